// The program of main.cc, as bytes (pod_init_program.h).
    .section .rodata
    .global muster_pod_init_begin
    .global muster_pod_init_end
    .balign 4096
muster_pod_init_begin:
    .incbin MUSTER_POD_INIT
muster_pod_init_end:
    .section .note.GNU-stack, "", @progbits
