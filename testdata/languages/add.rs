#![no_std]
#![no_main]

extern "C" {
    fn printf(format: *const u8, ...) -> i32;
}

#[no_mangle]
#[inline(never)]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

#[no_mangle]
pub extern "C" fn main() -> i32 {
    unsafe { printf(b"%d\n\0".as_ptr(), add(3, 4)) };
    0
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
