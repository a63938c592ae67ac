package bundles

import "strconv"

// Maker makes the ids of a client, in blocks. Its owner calls it from one goroutine at a time.
type Maker struct {
	client string
	number uint64 // of the block
	block  string
	next   int // index in the block
}

// NewMaker makes the ids of a client.
func NewMaker(client string) Maker {
	m := Maker{client: client}
	m.begin(1)
	return m
}

// ID is the next id.
func (m *Maker) ID() string {
	if m.next == Most {
		m.begin(m.number + 1)
	}
	m.next++
	return ID(m.block, m.next-1)
}

// Leave ends a block: no id is made in it from now on.
func (m *Maker) Leave(block string) {
	if block == m.block {
		m.begin(m.number + 1)
	}
}

func (m *Maker) begin(number uint64) {
	m.number, m.next = number, 0
	m.block = m.client + "." + strconv.FormatUint(number, 36)
}
