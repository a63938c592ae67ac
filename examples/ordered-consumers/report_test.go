package main

import "testing"

// TestExamine: what the processes have said in these cases, and what the report makes of it. An
// account has two orders.
func TestExamine(t *testing.T) {
	const a = "orders.3.a"
	say := func(process, word string, n int, at int64) saying { return saying{process, word, a, n, at} }
	clean := []saying{say("p", begins, 1, 10), say("p", ends, 1, 20), say("q", begins, 2, 30), say("q", ends, 2, 40)}
	for name, c := range map[string]struct {
		said []saying
		want result
	}{
		"handed over": {clean, result{}},
		"killed with it in hand": {
			[]saying{
				say("p", begins, 1, 10), say("p", ends, 1, 20), say("p", begins, 2, 22), say("p", over, 0, 25),
				say("q", begins, 2, 30), say("q", ends, 2, 40),
			},
			result{twice: 1},
		},
		"killed after it was stored": {
			append(clean[:2:2], say("p", over, 0, 25), say("q", again, 1, 30), say("q", begins, 2, 30), say("q", ends, 2, 40)),
			result{twice: 1},
		},
		"stored twice": {append(clean[:4:4], say("q", begins, 2, 50), say("q", ends, 2, 60)), result{disordered: 1}},
		"out of order": {
			[]saying{say("p", begins, 2, 10), say("p", ends, 2, 20), say("p", begins, 1, 30), say("p", ends, 1, 40)},
			result{disordered: 2, lost: 1},
		},
		"lost": {clean[:2], result{lost: 1}},
		"lost with the process": {
			append(clean[:2:2], say("q", begins, 2, 30), say("q", over, 0, 35)), result{lost: 2},
		},
		"two at once": {
			[]saying{say("p", begins, 1, 10), say("q", begins, 2, 15), say("p", ends, 1, 20), say("q", ends, 2, 40)},
			result{shared: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := result{accounts: map[string]int{"a": 2}}
			got.examine(c.said)
			if got.twice != c.want.twice || got.disordered != c.want.disordered ||
				got.lost != c.want.lost || got.shared != c.want.shared {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
