package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// desk is an outbox with the attempts whose reports it carries, and what the loop would do around
// it.
type desk struct {
	outbox
	s    *worker
	now  time.Time
	runs map[string]*execution
}

func newDesk() *desk {
	return &desk{
		outbox: newOutbox("in."), s: &worker{in: mailbox.New[any]()}, now: time.Now(),
		runs: map[string]*execution{},
	}
}

func (d *desk) run(id string) *execution {
	x := &execution{
		attempts: &attempts{put: func(m any) { d.s.in.Put(m) }}, id: id,
		attempt: tasks.Attempt{Epoch: 1, N: 1}, began: d.now,
	}
	x.ctx, x.cancel = context.WithCancelCause(context.Background())
	d.runs[id] = x
	return x
}

// say is a handler's call that the loop hears of; ok receives what it returns.
func (d *desk) say(t *testing.T, x *execution, fraction float64, checkpoint []byte) (ok chan error) {
	t.Helper()
	ok = make(chan error, 1)
	if checkpoint == nil {
		ok <- x.Progress(t.Context(), fraction, nil)
	} else {
		said := x.progress.count()
		go func() { ok <- x.Progress(t.Context(), fraction, checkpoint) }()
		for x.progress.count() == said { // until the call waits
			time.Sleep(time.Millisecond)
		}
	}
	d.hear()
	return ok
}

// awaitSaid is what a call that say began has returned; it fails the test when that never comes.
func awaitSaid(t *testing.T, ok <-chan error) error {
	t.Helper()
	select {
	case err := <-ok:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the handler's call still waits for what it has told to be settled")
		return nil
	}
}

func (p *progress) count() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// hear takes what handlers have told the loop.
func (d *desk) hear() {
	for _, m := range d.s.in.Drain(nil) {
		d.progress(m.(progressed).x)
	}
}

// post sends one report, and says what is in it.
func (d *desk) post() (number uint64, says string) {
	d.overdue(d.now)
	d.warm(d.now)
	if d.now.Before(d.pause) {
		return 0, ""
	}
	number, list := d.report(d.now, reportSize, time.Second)
	var all []string
	for _, f := range list {
		text := fmt.Sprintf("%s %s", f.ID, f.Verb)
		if f.Verb == tasks.Progressing {
			text += fmt.Sprintf(" %.2f %q", f.Fraction, f.Data)
		}
		all = append(all, text)
	}
	return number, strings.Join(all, ", ")
}

func (d *desk) settled(number uint64, stale ...bool) []tasks.Held {
	return d.acknowledge(acknowledged{number, stale, true})
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("reported %s; want %s", got, want)
	}
}

// TestAnswerToProgressIsNotTheResults: the answer to a report of progress comes after the result of
// the same attempt is in the outbox, and must not settle it.
func TestAnswerToProgressIsNotTheResults(t *testing.T) {
	d := newDesk()
	x := d.run("a")
	d.say(t, x, 0.5, nil)
	first, says := d.post()
	expect(t, says, `a progressing 0.50 ""`)
	x.lose(taskerr.ErrAttemptEnded)
	d.keep(frame.Finding{ID: "a", Attempt: x.attempt, Verb: tasks.Succeeded})
	d.ready("a", x.attempt)
	second, says := d.post()
	expect(t, says, "a succeeded")
	if held := d.settled(first, false); len(held) != 0 {
		t.Errorf("the answer to the progress has settled %v", held)
	}
	if held := d.settled(second, false); len(held) != 1 || held[0].ID != "a" {
		t.Errorf("the answer to the result has settled %v", held)
	}
}

func TestResultReplacesProgressThatWaits(t *testing.T) {
	d := newDesk()
	x := d.run("a")
	waits := d.say(t, x, 0.5, []byte("half"))
	x.lose(taskerr.ErrAttemptEnded)
	if err := awaitSaid(t, waits); !errors.Is(err, taskerr.ErrAttemptEnded) {
		t.Errorf("the call that waited: %v", err)
	}
	d.keep(frame.Finding{ID: "a", Attempt: x.attempt, Verb: tasks.Failed})
	d.ready("a", x.attempt)
	_, says := d.post()
	expect(t, says, "a failed")
	if err := x.Progress(t.Context(), 1, nil); !errors.Is(err, taskerr.ErrAttemptEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// TestLatestProgressWins: a late report carries the latest progress, with the checkpoint that is
// not stored yet, and no attempt has two reports under way.
func TestLatestProgressWins(t *testing.T) {
	d := newDesk()
	x := d.run("a")
	first := d.say(t, x, 0.1, []byte("one"))
	one, says := d.post()
	expect(t, says, `a progressing 0.10 "one"`)
	second := d.say(t, x, 0.2, []byte("two"))
	d.say(t, x, 0.3, nil)
	if _, says := d.post(); says != "" {
		t.Errorf("%s: a second report of it is under way", says)
	}
	d.now = d.now.Add(2 * time.Second) // the answer is lost
	if _, says := d.post(); says != "" {
		t.Errorf("%s: at once after a loss", says)
	}
	d.now = d.now.Add(time.Second)
	again, says := d.post()
	expect(t, says, `a progressing 0.30 "two"`)
	if d.settled(one, false); len(first) != 0 || len(second) != 0 {
		t.Error("an answer that came too late has settled something")
	}
	d.settled(again, false)
	if err := errors.Join(awaitSaid(t, first), awaitSaid(t, second)); err != nil {
		t.Errorf("what was stored later counts for both: %v", err)
	}
	if d.now = d.now.Add(time.Second); len(d.queue) != 0 {
		t.Errorf("%d items are left", len(d.queue))
	}
	third := d.say(t, x, 0.4, []byte{}) // urgent, though the attempt is cooling
	number, says := d.post()
	expect(t, says, `a progressing 0.40 ""`)
	if d.settled(number, true); !errors.Is(awaitSaid(t, third), taskerr.ErrStale) {
		t.Error("a stale report is not a success")
	}
}

func TestProgressIsPaced(t *testing.T) {
	d := newDesk()
	a, b := d.run("a"), d.run("b")
	var told []string
	for i := range 100 { // 10 ms each
		d.say(t, a, float64(i)/100, nil)
		if i == 7 {
			d.say(t, b, 0.5, nil)
		}
		if number, says := d.post(); says != "" {
			told = append(told, says)
			d.settled(number, make([]bool, strings.Count(says, ",")+1)...)
		}
		d.now = d.now.Add(10 * time.Millisecond)
	}
	if n := len(told); n < 10 || n > 12 {
		t.Errorf("%d reports in a second: %q", n, told)
	}
	d.now = d.now.Add(progressEvery)
	if _, last := d.post(); last != `a progressing 0.99 ""` {
		t.Errorf("the last one: %q", last)
	}
	if n := d.s.in.Drain(nil); len(n) != 0 || d.next(d.now) > progressEvery {
		t.Errorf("%d messages left, %v", len(n), d.next(d.now))
	}
}

// TestAgain: another scheduler hears everything that is not settled, progress too, and nothing of
// what was ended.
func TestAgain(t *testing.T) {
	d := newDesk()
	a, b := d.run("a"), d.run("b")
	waits := d.say(t, a, 0.5, []byte("half"))
	d.say(t, b, 0.5, nil)
	d.post()
	b.lose(taskerr.ErrStopped)
	d.keep(frame.Finding{ID: "c", Attempt: a.attempt, Verb: tasks.Succeeded})
	d.again(d.runs)
	number, says := d.post()
	expect(t, says, `c succeeded, a progressing 0.50 "half"`)
	d.settled(number, false, false)
	if err := awaitSaid(t, waits); err != nil {
		t.Error(err)
	}
}

func TestReportsAreBounded(t *testing.T) {
	d := newDesk()
	for i := range 3 {
		id := fmt.Sprint(i)
		d.keep(frame.Finding{ID: id, Verb: tasks.Succeeded, Data: make([]byte, reportSize/2)})
		d.ready(id, tasks.Attempt{})
	}
	for _, want := range []string{"0 succeeded", "1 succeeded", "2 succeeded"} {
		_, says := d.post()
		expect(t, says, want)
	}
}
