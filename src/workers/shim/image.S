// The program of program/main.cc, as bytes.
    .section .rodata
    .global muster_shim_begin
    .global muster_shim_end
    .balign 4096
muster_shim_begin:
    .incbin MUSTER_SHIM
muster_shim_end:
    .balign 4096
    .section .note.GNU-stack, "", @progbits
