package shortcut_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/internal/mailbox"
)

// wire notes what went over the connection.
type wire struct {
	mu   sync.Mutex
	sent []string
}

func (w *wire) Send(subject, _ string, _ []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, subject)
}
func (*wire) MaxPayload() int { return 1 << 20 }
func (*wire) Refresh()        {}
func (*wire) Stop()           {}

// take returns what went over the connection since the last call.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// heard is an End that keeps what it takes.
type heard struct {
	answers, requests []*nats.Msg
	full              bool
}

func (h *heard) end(inbox string) shortcut.End {
	return shortcut.End{
		Inbox:  inbox,
		Answer: func(m *nats.Msg) { h.answers = append(h.answers, m) },
		Request: func(m *nats.Msg) bool {
			if !h.full {
				h.requests = append(h.requests, m)
			}
			return !h.full
		},
	}
}

// TestWays: which messages take the shortcut, and which go over the connection.
func TestWays(t *testing.T) {
	var between shortcut.Shortcut
	over := &wire{}
	s, w := between.Scheduler(7, over), between.Worker(7, over)
	if s.Hand("work.a", "", nil) || w.Hand("report.a", "", nil) {
		t.Fatal("somebody took it, and nobody is there")
	}
	var scheduler, worker heard
	leaveS, leaveW := s.Join(scheduler.end("in.s.")), w.Join(worker.end("in.w."))
	if !s.Hand("work.a", "in.s.1", []byte("frame")) || !w.Hand("report.a", "in.w.1", []byte("report")) {
		t.Fatal("the other side has not taken it")
	}
	m := worker.requests[0]
	w.Send(m.Reply, "in.w.=", []byte("answer"))
	s.Send("in.w.=", "", []byte("confirmed"))
	s.Send("done.x", "", nil)
	s.Send("in.other.1", "", nil)
	if m.Subject != "work.a" || string(m.Data) != "frame" || len(scheduler.requests) != 1 ||
		len(scheduler.answers) != 1 || len(worker.answers) != 1 || scheduler.answers[0].Reply != "in.w.=" ||
		string(scheduler.answers[0].Data) != "answer" || string(worker.answers[0].Data) != "confirmed" {
		t.Errorf("heard: %+v, %+v", scheduler, worker)
	}
	if sent := over.take(); len(sent) != 2 {
		t.Errorf("over the connection: %v", sent)
	}
	if worker.full = true; s.Hand("work.a", "", nil) {
		t.Error("taken without room")
	}
	leaveW()
	leaveS()
	worker.full = false
	s.Send("in.w.2", "", nil)
	w.Send("in.s.2", "", nil)
	if s.Hand("work.a", "", nil) || w.Hand("report.a", "", nil) {
		t.Error("taken by one that has left")
	}
	if sent := over.take(); len(sent) != 2 {
		t.Errorf("over the connection, after both have left: %v", sent)
	}
}

// TestLeases: a side of another lease is not found, its answers are still those to its own inbox,
// and a side that leaves late does not remove its successor.
func TestLeases(t *testing.T) {
	var between shortcut.Shortcut
	over := &wire{}
	var scheduler, former, later heard
	s := between.Scheduler(7, over)
	s.Join(scheduler.end("in.s."))
	w6, w7 := between.Worker(6, over), between.Worker(7, over)
	leave6 := w6.Join(former.end("in.6."))
	if s.Hand("work.a", "", nil) || w6.Hand("report.a", "", nil) {
		t.Error("taken by the side of another lease")
	}
	w7.Join(later.end("in.7."))
	leave6()
	if !s.Hand("work.a", "", nil) || len(later.requests) != 1 || len(former.requests) != 0 {
		t.Error("the successor is not found")
	}
	s.Send("in.6.1", "", nil)
	if sent := over.take(); len(sent) != 1 {
		t.Errorf("an answer to a worker that has left: %v", sent)
	}
}

// TestApart: two namespaces, and two sessions of one process, do not find each other, whatever
// their inboxes and numbers are. A side without a shortcut finds nobody.
func TestApart(t *testing.T) {
	var one, two shortcut.Shortcut
	over := &wire{}
	var h heard
	two.Worker(7, over).Join(h.end("in."))
	(*shortcut.Shortcut)(nil).Worker(7, over).Join(h.end("in."))
	for _, s := range []*shortcut.Sender{one.Scheduler(7, over), (*shortcut.Shortcut)(nil).Scheduler(7, over)} {
		s.Send("in.1", "", nil)
		if s.Hand("work.a", "", nil) || len(h.requests)+len(h.answers) > 0 {
			t.Error("found a worker of another one")
		}
	}
	if sent := over.take(); len(sent) != 2 {
		t.Errorf("over the connection: %v", sent)
	}
}

// TestOrderAndLeaving: both sides talk at once, while the worker leaves and joins again. No message
// goes to two ends, none comes twice, and what comes keeps the order in which it was given.
func TestOrderAndLeaving(t *testing.T) {
	var between shortcut.Shortcut
	over := &wire{}
	s, w := between.Scheduler(7, over), between.Worker(7, over)
	join := func(side *shortcut.Sender, inbox string) (box *mailbox.Mailbox[uint64], leave func()) {
		box = mailbox.New[uint64]()
		take := func(m *nats.Msg) bool { return box.Put(binary.BigEndian.Uint64(m.Data)) }
		return box, side.Join(shortcut.End{Inbox: inbox, Answer: func(m *nats.Msg) { take(m) }, Request: take})
	}
	back, leave := join(s, "in.s.")
	defer leave()
	const messages, lives = 20_000, 50
	number := func(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	var all sync.WaitGroup
	refused := 0
	all.Go(func() {
		for n := range messages {
			if !s.Hand("work.a", "", number(n)) {
				refused++
			}
		}
	})
	all.Go(func() {
		for n := range messages {
			w.Send("in.s.1", "", number(n))
		}
	})
	var boxes []*mailbox.Mailbox[uint64]
	for range lives {
		box, leave := join(w, "in.w.")
		boxes = append(boxes, box)
		leave()
	}
	box, leave := join(w, "in.w.")
	boxes = append(boxes, box)
	all.Wait()
	leave()
	came, next := 0, uint64(0)
	for _, box := range boxes {
		list := box.Drain(nil)
		for _, n := range list {
			if n < next {
				t.Fatalf("%d came after %d", n, next-1)
			}
			next = n + 1
		}
		came += len(list)
	}
	if came+refused != messages {
		t.Errorf("%d came, %d were refused, of %d", came, refused, messages)
	}
	answers := back.Drain(nil)
	for i, n := range answers {
		if n != uint64(i) {
			t.Fatalf("answer %d came as number %d", n, i)
		}
	}
	if len(answers) != messages || len(over.take()) > 0 {
		t.Errorf("%d answers", len(answers))
	}
}
