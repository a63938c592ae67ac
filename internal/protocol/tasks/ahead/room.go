package ahead

import (
	"encoding/binary"
	"strings"
)

// Input is what the handler of a task gets.
type Input struct {
	Data        []byte
	Trace, Meta string
}

// Room holds inputs of waiting tasks as far as there is room for them. The zero value has none.
//
// Each is one piece of memory, found by a number of eight bytes, so that many small ones have room.
// Two tasks may share a number. Then the later input takes the place of the earlier one, which is
// read when its task is handed out: a revision tells them apart.
type Room struct {
	most  int // bytes
	bytes int
	kept  map[uint64]string // by number: the revision, two lengths, and the texts
}

// keptCost is how many bytes a kept input takes beyond its own: its slot in a map that has just
// grown, and what the memory of a small one is rounded up by. That of a large one is rounded up by
// an eighth of its size, seldom by more, which is not counted.
const keptCost = 96

// NewRoom is for inputs of so many bytes in all.
func NewRoom(most int) Room { return Room{most: most, kept: map[uint64]string{}} }

// Keep takes an input if there is room, in place of one of an earlier submission of the task.
func (r *Room) Keep(task string, revision uint64, x Input) {
	r.Drop(task)
	var head [8 + 2*binary.MaxVarintLen64]byte
	b := binary.LittleEndian.AppendUint64(head[:0], revision)
	b = binary.AppendUvarint(b, uint64(len(x.Trace)))
	b = binary.AppendUvarint(b, uint64(len(x.Meta)))
	size := len(b) + len(x.Trace) + len(x.Meta) + len(x.Data)
	if r.bytes+size+keptCost > r.most {
		return
	}
	var text strings.Builder
	text.Grow(size)
	text.Write(b)
	text.WriteString(x.Trace)
	text.WriteString(x.Meta)
	text.Write(x.Data)
	r.bytes += size + keptCost
	r.kept[number(task)] = text.String()
}

// Take gives the input of a submission away.
func (r *Room) Take(task string, revision uint64) (x Input, ok bool) {
	text := r.kept[number(task)]
	if len(text) < 8 || binary.LittleEndian.Uint64([]byte(text[:8])) != revision {
		return Input{}, false
	}
	r.Drop(task)
	text = text[8:]
	trace, text := length(text)
	meta, text := length(text)
	x.Trace, text = text[:trace], text[trace:]
	x.Meta, text = text[:meta], text[meta:]
	if len(text) > 0 {
		x.Data = []byte(text)
	}
	return x, true
}

func length(text string) (n int, rest string) {
	v, size := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
	return int(v), text[size:]
}

// Drop removes the input of a task.
func (r *Room) Drop(task string) {
	n := number(task)
	if text, ok := r.kept[n]; ok {
		delete(r.kept, n)
		r.bytes -= len(text) + keptCost
	}
}

// number is the FNV-1a hash of a task's id.
func number(task string) uint64 {
	n := uint64(14695981039346656037)
	for i := range len(task) {
		n = (n ^ uint64(task[i])) * 1099511628211
	}
	return n
}
