package control

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// TestPartsInAnyOrder: what is cut is put together again, whatever order its parts come in, and how
// often.
func TestPartsInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a Assembly
	for number := range uint64(200) {
		frame := make([]byte, r.IntN(100_000))
		for i := range frame {
			frame[i] = byte(r.Uint32())
		}
		all := Parts(frame, 1000+r.IntN(50_000), number)
		if len(all) == 1 {
			if !bytes.Equal(all[0], frame) {
				t.Fatal("what fits is not sent as it is")
			}
			continue
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, p := range all {
			if len(p) > 51_000 || !IsPart(p) {
				t.Fatalf("part of %d bytes", len(p))
			}
			if i > 0 && r.IntN(4) == 0 && a.Add(all[r.IntN(i)]) != nil {
				t.Fatal("complete by a copy")
			}
			whole := a.Add(p)
			if last := i == len(all)-1; last != (whole != nil) || last && !bytes.Equal(whole, frame) {
				t.Fatalf("answer %d, part %d of %d: %d bytes", number, i, len(all), len(whole))
			}
		}
	}
}

// TestPartsOfTwoAnswersAreNotMixed: the later one counts.
func TestPartsOfTwoAnswersAreNotMixed(t *testing.T) {
	var a Assembly
	old, fresh := Parts(bytes.Repeat([]byte("o"), 3000), 1000, 1), Parts(bytes.Repeat([]byte("n"), 3000), 1000, 2)
	for _, p := range append(append([][]byte{}, old[:len(old)-1]...), fresh[:len(fresh)-1]...) {
		if a.Add(p) != nil {
			t.Fatal("complete too soon")
		}
	}
	if whole := a.Add(fresh[len(fresh)-1]); !bytes.Equal(whole, bytes.Repeat([]byte("n"), 3000)) {
		t.Errorf("%q", whole)
	}
}

// FuzzPart: one part is the whole answer or waits for the others, and takes no more memory than
// itself, however many others there are by what it says.
func FuzzPart(f *testing.F) {
	for _, p := range Parts(make([]byte, 2000), 500, 7) {
		f.Add(p)
	}
	f.Add([]byte{partVersion, partType, 1, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		if !IsPart(data) {
			return
		}
		var a Assembly
		var whole []byte
		heap.Bounded(t, len(data), func() {
			a = Assembly{}
			whole = a.Add(data)
		})
		if len(whole) > len(data) || len(a.pieces) > maxParts || a.size > len(data) {
			t.Errorf("%d bytes make %d in %d parts", len(data), len(whole), len(a.pieces))
		}
	})
}
