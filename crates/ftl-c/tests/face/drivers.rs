//! Drivers over the driver of a model, which see what the functions do.

/// One that finds out whose memory it is given.
pub(crate) mod watch {
    use std::ffi::c_void;

    use ftl_c::{Nand, PageProgram, PageRead};

    /// A driver that notes whether it was given any other memory.
    pub(crate) struct Watch {
        pub(crate) inner: Nand,
        pub(crate) buffer: *mut c_void,
        pub(crate) page: usize,
        pub(crate) calls: u32,
    }

    pub(crate) unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
        // SAFETY: the context of this test.
        let (watch, asked) = unsafe { (&mut *context.cast::<Watch>(), &*what) };
        watch.calls += 1;
        assert!(asked.data.is_null() || asked.data == watch.buffer);
        let spare = watch.buffer.wrapping_byte_add(watch.page);
        assert!(asked.spare.is_null() || asked.spare == spare);
        // SAFETY: passed on.
        unsafe { watch.inner.read.expect("a function")(watch.inner.context, what) }
    }

    pub(crate) unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
        // SAFETY: the context of this test.
        let (watch, asked) = unsafe { (&mut *context.cast::<Watch>(), &*what) };
        watch.calls += 1;
        assert!(asked.data == watch.buffer.cast_const());
        assert!(asked.spare == watch.buffer.wrapping_byte_add(watch.page).cast_const());
        // SAFETY: passed on.
        unsafe { watch.inner.program.expect("a function")(watch.inner.context, what) }
    }

    pub(crate) unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
        // SAFETY: the context of this test, passed on.
        unsafe {
            let watch = &mut *context.cast::<Watch>();
            watch.inner.erase.expect("a function")(watch.inner.context, block)
        }
    }

    pub(crate) unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
        // SAFETY: the context of this test, passed on.
        unsafe {
            let watch = &mut *context.cast::<Watch>();
            watch.inner.is_bad.expect("a function")(watch.inner.context, block)
        }
    }
}

/// One that calls back.
pub(crate) mod circle {
    use std::ffi::c_void;

    use ftl_c::{
        Error, Nand, PageProgram, PageRead, Tandem, tandem_capacity, tandem_close, tandem_read,
    };

    /// A driver that calls the device that calls it.
    pub(crate) struct ReentrantDriver {
        pub(crate) inner: Nand,
        pub(crate) device: *mut Tandem,
        pub(crate) found: i32,
    }

    pub(crate) unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
        // SAFETY: the context of this test.
        unsafe {
            let circle = context.cast::<ReentrantDriver>();
            let mut data = [0_u8; 512];
            if !(*circle).device.is_null() {
                let found = tandem_read((*circle).device, 0, 1, data.as_mut_ptr().cast());
                (*circle).found = found;
                assert_eq!(tandem_close((*circle).device), Error::Busy.number());
                assert_eq!(tandem_capacity((*circle).device), 0);
            }
            (*circle).inner.read.expect("a function")((*circle).inner.context, what)
        }
    }

    pub(crate) unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
        // SAFETY: the context of this test, passed on.
        unsafe {
            let inner = (*context.cast::<ReentrantDriver>()).inner;
            inner.program.expect("a function")(inner.context, what)
        }
    }

    pub(crate) unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
        // SAFETY: the context of this test, passed on.
        unsafe {
            let inner = (*context.cast::<ReentrantDriver>()).inner;
            inner.erase.expect("a function")(inner.context, block)
        }
    }

    pub(crate) unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
        // SAFETY: the context of this test, passed on.
        unsafe {
            let inner = (*context.cast::<ReentrantDriver>()).inner;
            inner.is_bad.expect("a function")(inner.context, block)
        }
    }
}
