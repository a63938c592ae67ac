package tasks

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestQueueIsAnOrder: whatever is put in and taken out of the middle, what comes out first is the
// least of what is in.
func TestQueueIsAnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := &queue{deadline: rapid.Bool().Draw(rt, "deadline")}
		var in []entry
		for i := range rapid.IntRange(1, 200).Draw(rt, "steps") {
			switch {
			case len(in) == 0 || rapid.IntRange(0, 2).Draw(rt, "what") > 0:
				r := entry{Instant(rapid.IntRange(0, 20).Draw(rt, "at")), &task{revision: uint64(i)}}
				in = append(in, r)
				q.add(r.t, r.at)
			default:
				i := rapid.IntRange(0, len(in)-1).Draw(rt, "which")
				q.remove(in[i].t)
				if *q.place(in[i].t) != 0 {
					rt.Fatal("it is out, and believes to be in")
				}
				q.remove(in[i].t) // it is not in
				in = slices.Delete(in, i, i+1)
			}
			if q.len() != len(in) {
				rt.Fatalf("%d are in, and not %d", q.len(), len(in))
			}
		}
		for len(in) > 0 {
			slices.SortFunc(in, func(a, b entry) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
			if in[0].at > 0 {
				if x := q.pop(in[0].at - 1); x != nil {
					rt.Fatalf("%d came before it was due", x.revision)
				}
			}
			if x := q.pop(in[0].at); x != in[0].t {
				rt.Fatalf("%v came, and not %v", x, in[0].t)
			}
			in = in[1:]
		}
	})
}

func TestQueueGivesRoomBack(t *testing.T) {
	q := &queue{}
	all := make([]*task, 100_000)
	for i := range all {
		all[i] = &task{revision: uint64(i)}
		q.add(all[i], Instant(i))
	}
	for _, x := range all[:len(all)-10] {
		q.remove(x)
	}
	if cap(q.entries) > 4096 {
		t.Errorf("room for %d is kept for 10", cap(q.entries))
	}
}
