package bundles

import "strconv"

// Maker makes the ids of a client, in blocks. Its owner calls it from one goroutine at a time.
type Maker struct {
	client string
	number uint64 // of the block
	block  string
	next   int // index in the block
	bytes  int // what its tasks take in a bundle
}

// NewMaker makes the ids of a client.
func NewMaker(client string) Maker {
	m := Maker{client: client}
	m.begin(1)
	return m
}

// ID is the next id, of a task that takes so many bytes in a bundle at most, or 0 if it goes in no
// bundle. The tasks of a block have room in one bundle: it has no second one.
func (m *Maker) ID(bytes, room int) string {
	if m.next == Most || m.bytes > 0 && m.bytes+bytes > room {
		m.begin(m.number + 1)
	}
	m.next++
	m.bytes += bytes
	return ID(m.block, m.next-1)
}

// Leave ends a block: no id is made in it from now on.
func (m *Maker) Leave(block string) {
	if block == m.block {
		m.begin(m.number + 1)
	}
}

func (m *Maker) begin(number uint64) {
	m.number, m.next, m.bytes = number, 0, 0
	m.block = m.client + "." + strconv.FormatUint(number, 36)
}
