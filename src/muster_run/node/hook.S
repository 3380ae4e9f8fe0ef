// The files of python/muster/src/muster/hook, and zygote.py beside it, as bytes.
    .section .rodata
    .global muster_hook_site_begin
    .global muster_hook_site_end
    .global muster_hook_begin
    .global muster_hook_end
    .global muster_hook_errors_begin
    .global muster_hook_errors_end
    .global muster_zygote_begin
    .global muster_zygote_end
muster_hook_site_begin:
    .incbin MUSTER_HOOK_SITE
muster_hook_site_end:
muster_hook_begin:
    .incbin MUSTER_HOOK
muster_hook_end:
muster_hook_errors_begin:
    .incbin MUSTER_HOOK_ERRORS
muster_hook_errors_end:
muster_zygote_begin:
    .incbin MUSTER_ZYGOTE
muster_zygote_end:
    .section .note.GNU-stack, "", @progbits
