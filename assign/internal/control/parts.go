package control

import (
	"encoding/binary"
	"slices"
)

// A worker's answer to a sync names everything that it holds, and is taken as a whole or not at
// all. An answer that is larger than a message may be, with thousands of slots, goes in parts. Each
// part is
//
//	version 1 · type 0x70 · number of the answer · which part · of how many · the bytes
//
// so a receiver that does not know parts takes none of them for an answer.

const (
	partVersion = 1
	partType    = 0x70
	partHead    = 2 + 3*binary.MaxVarintLen64

	maxParts    = 1024     // the maximum of a reply permission, see docs/reference/permissions.md
	maxAssembly = 32 << 20 // bytes of one answer
)

// Parts cuts a frame into messages of at most most bytes. The only message is the frame itself if
// it fits. number tells its parts from those of other answers.
func Parts(frame []byte, most int, number uint64) [][]byte {
	if len(frame) <= most || most <= partHead {
		return [][]byte{frame}
	}
	all := slices.Collect(slices.Chunk(frame, most-partHead))
	for i, piece := range all {
		b := append(make([]byte, 0, most), partVersion, partType)
		for _, n := range []uint64{number, uint64(i), uint64(len(all))} {
			b = binary.AppendUvarint(b, n)
		}
		all[i] = append(b, piece...)
	}
	return all
}

// Assembly is an answer that still lacks parts. A worker has one at a time: a part of another
// answer begins a new one.
type Assembly struct {
	number  uint64
	pieces  [][]byte
	missing int
	size    int
}

// IsPart reports whether a message is part of an answer.
func IsPart(data []byte) bool { return len(data) > 2 && data[0] == partVersion && data[1] == partType }

// Add takes a part. It returns the whole frame if this was the last missing part, else nil.
func (a *Assembly) Add(data []byte) []byte {
	rest := data[2:]
	var n [3]uint64
	for i := range n {
		v, used := binary.Uvarint(rest)
		if used <= 0 {
			return nil
		}
		n[i], rest = v, rest[used:]
	}
	number, at, of := n[0], n[1], n[2]
	if of == 0 || of > maxParts || at >= of || len(rest) == 0 {
		return nil
	}
	if a.pieces == nil || number != a.number || of != uint64(len(a.pieces)) {
		*a = Assembly{number: number, pieces: make([][]byte, of), missing: int(of)}
	}
	if a.pieces[at] != nil || a.size+len(rest) > maxAssembly {
		return nil
	}
	a.pieces[at] = rest
	a.size += len(rest)
	if a.missing--; a.missing > 0 {
		return nil
	}
	whole := slices.Concat(a.pieces...)
	*a = Assembly{}
	return whole
}
