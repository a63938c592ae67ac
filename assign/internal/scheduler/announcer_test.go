package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// recorder keeps what is sent.
type recorder struct {
	sent []*nats.Msg
	most int // bytes of a message
}

func (r *recorder) Send(subject, reply string, data []byte) {
	r.sent = append(r.sent, &nats.Msg{Subject: subject, Reply: reply, Data: data})
}
func (r *recorder) Hand(_, _ string, _ []byte) bool { return false } // no worker is beside it
func (r *recorder) MaxPayload() int                 { return r.most }
func (r *recorder) Refresh()                        {}
func (r *recorder) Stop()                           {}

// take is what was sent since it was called last.
func (r *recorder) take() []*nats.Msg {
	sent := r.sent
	r.sent = nil
	return sent
}

// announcing is an announcer whose messages are kept.
func announcing() (a *announcer, said func() []string) {
	out := &recorder{}
	a = newAnnouncer(out, func(audience string) string { return "done." + audience }, 1<<20)
	return a, func() (all []string) {
		a.flush()
		for _, m := range out.take() {
			for task, announcement := range record.Entries(m.Data) {
				what := "read"
				if len(announcement) > 0 {
					what = "ended"
				}
				all = append(all, task+" "+what)
			}
		}
		return all
	}
}

func ended(task string, number uint64) *write {
	h, data := record.EncodeOutcome("k", tasks.Outcome{Status: tasks.StatusSucceeded, Tries: 1}, "", nil)
	return &write{number: number, op: natskv.Write{Key: record.QueueKey + task, Header: h, Value: data}}
}

func TestAnOutcomeIsAnnouncedOnce(t *testing.T) {
	a, said := announcing()
	a.begin()
	expect := func(what string, want ...string) {
		t.Helper()
		if got := said(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	a.writing("a", 1)
	a.answered(ended("a", 1), true)
	expect("one that is acknowledged first", "a ended")
	a.shown("a")
	expect("and then shown")
	a.writing("b", 2)
	a.shown("b")
	expect("one that is shown first")
	a.answered(ended("b", 2), true)
	expect("and then acknowledged", "b ended")
	a.writing("c", 3)
	a.answered(ended("c", 3), false)
	expect("one whose acknowledgement is lost")
	a.shown("c")
	expect("and that is shown then", "c read")
	a.writing("d", 4)
	a.shown("d")
	a.answered(ended("d", 4), false)
	expect("the same, shown first", "d read")
	a.writing("e", 5)
	a.answered(ended("e", 5), false)
	a.writing("e", 6)
	a.answered(ended("e", 6), true)
	expect("one that is written again", "e ended")
	a.shown("e")
	a.writing("h", 7)
	a.writing("h", 8)
	a.answered(ended("h", 7), false)
	a.shown("h")
	a.answered(ended("h", 8), true)
	expect("one that is written again before the first is answered", "h ended")
	a.writing("i", 9)
	a.shown("i")
	a.writing("k", 10)
	a.reconnected()
	expect("one whose answer is lost with the connection", "i read")
	a.answered(ended("i", 9), false)
	a.answered(ended("k", 10), false)
	a.shown("f")
	expect("another scheduler's", "f read")
	a.answered(&write{op: natskv.Write{Key: record.NoteKey + "g", Value: []byte("{}")}}, true)
	a.answered(&write{op: natskv.Write{
		Key:    record.QueueKey + "g",
		Header: []natskv.Field{{Name: record.HeaderTask, Value: "{}"}},
	}}, true)
	expect("a note, and a tick")
	if len(a.ends) != 0 {
		t.Errorf("kept for nothing: %v", a.ends)
	}
}

// TestWhatATermBeforeHasStoredIsAnnounced: the last outcomes that stood when the term began may not
// have been announced.
func TestWhatATermBeforeHasStoredIsAnnounced(t *testing.T) {
	for _, n := range []int{0, 3, maxFormer, maxFormer + 3} {
		a, said := announcing()
		for i := range n {
			a.shown(fmt.Sprint(i))
		}
		if early := said(); len(early) > 0 {
			t.Fatalf("said before the stream was read: %v", early)
		}
		a.begin()
		got := said()
		last := min(n, maxFormer)
		for i := n - last; i < n; i++ {
			if !slices.Contains(got, fmt.Sprint(i, " read")) {
				t.Fatalf("%d of before: %d is not announced", n, i)
			}
		}
		if len(got) != last || a.former != nil {
			t.Errorf("%d of before: %d announced, %d kept", n, len(got), len(a.former))
		}
	}
}

func TestWhatIsAnnouncedAheadOfTheStreamIsBounded(t *testing.T) {
	a, said := announcing()
	a.begin()
	for i := range 2*maxEnds + 5 {
		task := fmt.Sprint(i)
		a.writing(task, uint64(i))
		a.answered(ended(task, uint64(i)), true)
	}
	if len(a.ends) > maxEnds || len(said()) != 2*maxEnds+5 {
		t.Errorf("%d kept", len(a.ends))
	}
}
