// Trains the model of a MetaGraphDef: train MODEL CHECKPOINT. Prints the bits of loss and weights.
package main

// #cgo pkg-config: sluice_c
// #include <sluice_c.h>
import "C"

import (
	"fmt"
	"math"
	"os"
	"unsafe"
)

func check(err *C.sluice_error) {
	if err != nil {
		panic(C.GoString(C.sluice_error_message(err)))
	}
}

func tensor(values []float32, rows, columns int64) (t *C.sluice_tensor) {
	dims := [2]C.int64_t{C.int64_t(rows), C.int64_t(columns)}
	check(C.sluice_tensor_copy(C.SLUICE_FLOAT, &dims[0], 2, unsafe.Pointer(&values[0]), C.size_t(4*len(values)), &t))
	return t
}

func main() {
	var x, y []float32
	for i := 0; i < 8; i++ {
		a, b := float32(i)/8, float32(i%3)/4
		x, y = append(x, a, b), append(y, a*b)
	}
	feeds := []C.sluice_feed{{C.CString("x"), tensor(x, 8, 2)}, {C.CString("y"), tensor(y, 8, 1)}}
	rate := C.sluice_hyper_parameter{C.CString("learning_rate"), 0.02}
	names := []string{"loss", "weights"}
	fetches := []*C.char{C.CString(names[0]), C.CString(names[1])}
	fetched := make([]*C.sluice_tensor, 2)
	var graph *C.sluice_graph
	var session *C.sluice_session
	var train, init *C.char
	check(C.sluice_graph_load(C.CString(os.Args[1]), &graph))
	check(C.sluice_graph_minimize(graph, C.CString("loss"), C.CString("Adam"), &rate, 1, &train))
	check(C.sluice_graph_initializer(graph, &init))
	check(C.sluice_session_new(graph, nil, nil, &session))
	check(C.sluice_session_run(session, nil, 0, nil, 0, nil, &init, 1, nil))
	for step := 0; step < 200; step++ {
		check(C.sluice_session_run(session, &feeds[0], 2, nil, 0, nil, &train, 1, nil))
	}
	check(C.sluice_session_run(session, &feeds[0], 2, &fetches[0], 2, &fetched[0], nil, 0, nil))
	check(C.sluice_session_save(session, C.CString(os.Args[2]), 200))
	for i, name := range names {
		fmt.Print(name)
		data := (*float32)(C.sluice_tensor_data(fetched[i]))
		for _, value := range unsafe.Slice(data, int(C.sluice_tensor_elements(fetched[i]))) {
			fmt.Printf(" %08x", math.Float32bits(value))
		}
		fmt.Println()
	}
	C.sluice_session_free(session)
}
