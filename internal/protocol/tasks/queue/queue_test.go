package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// ticket is an item.
type ticket struct {
	order  uint64
	places [2]int32
}

func (x *ticket) Order() uint64             { return x.order }
func (x *ticket) Place(number uint8) *int32 { return &x.places[number] }

// TestQueueIsAnOrder: whatever is put in and taken out of the middle, what comes out first is the
// least of what is in.
func TestQueueIsAnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := Numbered[*ticket](rapid.Uint8Max(1).Draw(rt, "number"))
		var in []entry[*ticket]
		for i := range rapid.IntRange(1, 200).Draw(rt, "steps") {
			switch {
			case len(in) == 0 || rapid.IntRange(0, 2).Draw(rt, "what") > 0:
				r := entry[*ticket]{record.Instant(rapid.IntRange(0, 20).Draw(rt, "at")), &ticket{order: uint64(i)}}
				in = append(in, r)
				q.Add(r.item, r.at)
			default:
				i := rapid.IntRange(0, len(in)-1).Draw(rt, "which")
				q.Remove(in[i].item)
				if *in[i].item.Place(q.number) != 0 {
					rt.Fatal("it is out, and says that it is in")
				}
				q.Remove(in[i].item) // it is not in
				in = slices.Delete(in, i, i+1)
			}
			if q.Len() != len(in) {
				rt.Fatalf("%d are in, and not %d", q.Len(), len(in))
			}
		}
		for len(in) > 0 {
			slices.SortFunc(in, func(a, b entry[*ticket]) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if in[0].at > 0 {
				if x := q.Pop(in[0].at - 1); x != nil {
					rt.Fatalf("%d came before it was due", x.order)
				}
			}
			if x := q.Pop(in[0].at); x != in[0].item {
				rt.Fatalf("%v came, and not %v", x, in[0].item)
			}
			in = in[1:]
		}
	})
}

func TestQueueGivesRoomBack(t *testing.T) {
	q := Numbered[*ticket](0)
	all := make([]*ticket, 100_000)
	for i := range all {
		all[i] = &ticket{order: uint64(i)}
		q.Add(all[i], record.Instant(i))
	}
	for _, x := range all[:len(all)-10] {
		q.Remove(x)
	}
	if cap(q.entries) > 4096 {
		t.Errorf("room for %d is kept for 10", cap(q.entries))
	}
}
