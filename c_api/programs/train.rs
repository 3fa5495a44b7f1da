// Trains the model of a MetaGraphDef: train MODEL CHECKPOINT. Prints the bits of loss and weights.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

type Handle = *mut c_void;
type Text = *const c_char;

#[repr(C)]
struct Feed(Text, Handle);
#[repr(C)]
struct HyperParameter(Text, f64);

#[link(name = "sluice")]
extern "C" {
    fn sluice_error_message(error: Handle) -> Text;
    fn sluice_tensor_wrap(kind: i32, dims: *const i64, rank: i32, data: *mut c_void, bytes: usize,
        release: *const c_void, context: Handle, tensor: *mut Handle) -> Handle;
    fn sluice_tensor_data(tensor: Handle) -> *const f32;
    fn sluice_tensor_elements(tensor: Handle) -> i64;
    fn sluice_graph_load(path: Text, graph: *mut Handle) -> Handle;
    fn sluice_graph_minimize(graph: Handle, loss: Text, optimizer: Text,
        parameters: *const HyperParameter, count: usize, train: *mut Text) -> Handle;
    fn sluice_graph_initializer(graph: Handle, init: *mut Text) -> Handle;
    fn sluice_session_new(graph: Handle, target: Text, options: Handle, session: *mut Handle) -> Handle;
    fn sluice_session_run(session: Handle, feeds: *const Feed, num_feeds: usize,
        fetches: *const Text, num_fetches: usize, fetched: *mut Handle,
        targets: *const Text, num_targets: usize, options: Handle) -> Handle;
    fn sluice_session_save(session: Handle, prefix: Text, step: i64) -> Handle;
    fn sluice_session_free(session: Handle);
}

fn check(error: Handle) {
    if error.is_null() { return; }
    let message = unsafe { CStr::from_ptr(sluice_error_message(error)) };
    panic!("{}", message.to_string_lossy());
}

fn main() {
    let text = |s: &str| CString::new(s).unwrap().into_raw() as Text;
    let arguments: Vec<Text> = std::env::args().map(|a| text(&a)).collect();
    let mut x: Vec<f32> = (0..8).flat_map(|i| [i as f32 / 8.0, (i % 3) as f32 / 4.0]).collect();
    let mut y: Vec<f32> = (0..8).map(|i| x[2 * i] * x[2 * i + 1]).collect();
    let [mut xs, mut ys, mut graph, mut session] = [null_mut(); 4];
    let [mut train, mut init] = [null(); 2];
    let rate = HyperParameter(text("learning_rate"), 0.02);
    let names = ["loss", "weights"];
    let fetches = names.map(text);
    let mut fetched = [null_mut(); 2];
    unsafe {
        check(sluice_tensor_wrap(1, [8, 2].as_ptr(), 2, x.as_mut_ptr().cast(), 64, null(), null_mut(), &mut xs));
        check(sluice_tensor_wrap(1, [8, 1].as_ptr(), 2, y.as_mut_ptr().cast(), 32, null(), null_mut(), &mut ys));
        let feeds = [Feed(text("x"), xs), Feed(text("y"), ys)];
        check(sluice_graph_load(arguments[1], &mut graph));
        check(sluice_graph_minimize(graph, text("loss"), text("Adam"), &rate, 1, &mut train));
        check(sluice_graph_initializer(graph, &mut init));
        check(sluice_session_new(graph, null(), null_mut(), &mut session));
        check(sluice_session_run(session, null(), 0, null(), 0, null_mut(), &init, 1, null_mut()));
        for _ in 0..200 {
            check(sluice_session_run(session, feeds.as_ptr(), 2, null(), 0, null_mut(), &train, 1, null_mut()));
        }
        check(sluice_session_run(session, feeds.as_ptr(), 2, fetches.as_ptr(), 2, fetched.as_mut_ptr(), null(), 0, null_mut()));
        check(sluice_session_save(session, arguments[2], 200));
        for (name, tensor) in names.iter().zip(fetched) {
            let count = sluice_tensor_elements(tensor) as usize;
            let values = std::slice::from_raw_parts(sluice_tensor_data(tensor), count);
            let bits: Vec<String> = values.iter().map(|v| format!("{:08x}", v.to_bits())).collect();
            println!("{} {}", name, bits.join(" "));
        }
        sluice_session_free(session);
    }
}
