package frame

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestAddressee: of all that may be against a frame the first counts, in the order of Judge; and a
// signature is not looked at when the epoch is wrong.
func TestAddressee(t *testing.T) {
	type against struct {
		what string
		edit func(*Addressee, *Envelope)
		want tasks.Verdict
	}
	audience := func(edit func(*Envelope)) func(*Addressee, *Envelope) {
		return func(_ *Addressee, v *Envelope) { edit(v) }
	}
	forged := false
	all := []against{ // in order
		{"an epoch that is not in view yet", audience(func(v *Envelope) { v.Epoch, v.Term = 21, 21 }), Later},
		{"a later epoch, and nobody leads", func(a *Addressee, v *Envelope) { a.Epoch, v.Epoch, v.Term = 0, 21, 21 }, Later},
		{"an earlier epoch", audience(func(v *Envelope) { v.Epoch, v.Term = 9, 9 }), tasks.StaleEpoch},
		{"no epoch", audience(func(v *Envelope) { v.Epoch, v.Term = 0, 0 }), tasks.StaleEpoch},
		{"the epoch of a leader that has gone", func(a *Addressee, _ *Envelope) { a.Epoch = 0 }, tasks.StaleEpoch},
		{
			"no epoch, and nobody leads", func(a *Addressee, v *Envelope) { a.Epoch, v.Epoch, v.Term = 0, 0, 0 },
			tasks.StaleEpoch,
		},
		{"an epoch between the leader's and the highest", audience(func(v *Envelope) { v.Epoch = 15 }), tasks.StaleEpoch},
		{"a term that begins after its epoch", audience(func(v *Envelope) { v.Term = 11 }), tasks.StaleEpoch},
		{"a false signature", func(*Addressee, *Envelope) { forged = true }, tasks.Forged},
		{"another namespace", audience(func(v *Envelope) { v.Namespace = "x" }), tasks.Foreign},
		{"another role", audience(func(v *Envelope) { v.Role = "x" }), tasks.Foreign},
		{"another instance", audience(func(v *Envelope) { v.Instance = "x" }), tasks.Foreign},
		{"a session before this one", audience(func(v *Envelope) { v.Session = 4 }), tasks.Foreign},
		{"a session after this one", audience(func(v *Envelope) { v.Session = 6 }), tasks.Foreign},
		{"its own record is not in view", func(a *Addressee, _ *Envelope) { a.Open = false }, tasks.NotReady},
	}
	judge := func(those ...against) (verdict tasks.Verdict, looked bool) {
		a := Addressee{Namespace: "ns", Role: "r", Instance: "w", Session: 5, Epoch: 10, Highest: 20, Open: true}
		v := Envelope{Namespace: "ns", Role: "r", Epoch: 10, Term: 8, Instance: "w", Session: 5}
		forged = false
		for _, x := range those {
			x.edit(&a, &v)
		}
		return a.Judge(&v, func() bool { looked = true; return !forged }), looked
	}
	if got, looked := judge(); got != tasks.Accepted || !looked {
		t.Errorf("nothing is against it: %v, looked at the signature: %t", got, looked)
	}
	rank := map[tasks.Verdict]int{Later: 0, tasks.StaleEpoch: 1, tasks.Forged: 2, tasks.Foreign: 3, tasks.NotReady: 4}
	for i, x := range all {
		if got, looked := judge(x); got != x.want || looked != (rank[got] >= rank[tasks.Forged]) {
			t.Errorf("%s: %v, want %v; looked at the signature: %t", x.what, got, x.want, looked)
		}
		for _, y := range all[i+1:] {
			if rank[y.want] == rank[x.want] || rank[y.want] < rank[tasks.Forged] { // two of one kind, or of one field
				continue
			}
			if got, _ := judge(x, y); got != x.want {
				t.Errorf("%s and %s: %v, want %v", x.what, y.what, got, x.want)
			}
		}
	}
}
