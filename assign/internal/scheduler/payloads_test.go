package scheduler

import (
	"fmt"
	"testing"
)

// TestPayloadRoom: inputs of tasks that wait take no more memory than there is room for, whatever
// happens to them. An input that does not fit is read when its task is handed out.
func TestPayloadRoom(t *testing.T) {
	p := &payloads{kept: map[string]kept{}}
	const size = 1 << 20
	input := payload{data: make([]byte, size)}
	fits := payloadRoom / input.size()
	for i := range 2 * fits {
		p.keep(fmt.Sprint(i), 1, input)
	}
	if len(p.kept) != fits || p.bytes != fits*input.size() {
		t.Fatalf("%d inputs of %d bytes are kept, %d bytes in all, want %d", len(p.kept), size, p.bytes, fits)
	}
	p.keep("0", 2, payload{data: make([]byte, size/2)}) // submitted again, and smaller
	if _, ok := p.take("0", 1); ok {
		t.Error("the input of a submission that is none any more")
	}
	if x, ok := p.take("0", 2); !ok || len(x.data) != size/2 {
		t.Errorf("%d bytes, %t", len(x.data), ok)
	}
	if _, ok := p.take("0", 2); ok {
		t.Error("it was given away before")
	}
	p.drop("1")
	p.drop("1")
	if p.bytes != (fits-2)*input.size() {
		t.Errorf("%d bytes, want those of %d inputs", p.bytes, fits-2)
	}
	p.keep("late", 1, input)
	if _, ok := p.take("late", 1); !ok {
		t.Error("there is room, and it is not kept")
	}
}
