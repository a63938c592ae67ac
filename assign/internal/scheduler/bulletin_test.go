package scheduler

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// posts are the messages that an announcer sends.
func posts(most int) (*announcer, func() []*nats.Msg) {
	out := &recorder{}
	a := newAnnouncer(out, func(audience string) string { return "done." + audience }, most)
	a.begin()
	return a, func() []*nats.Msg {
		a.flush()
		return out.take()
	}
}

func endedWith(task string, data []byte) *write {
	h, data := record.EncodeOutcome("k", tasks.Outcome{
		Status: tasks.StatusSucceeded, Tries: 1,
		Body: &frame.Finding{Data: data},
	}, "", nil)
	return &write{op: natskv.Write{Key: record.QueueKey + task, Header: h, Value: data}}
}

func TestATurnIsOneMessageToEachAudience(t *testing.T) {
	a, posted := posts(1 << 20)
	clients := []string{nuid.Next(), nuid.Next()}
	said := map[string][]string{}
	for range 2 {
		for i := range 20 {
			for _, c := range clients {
				task := fmt.Sprint(c, ".", i)
				a.answered(endedWith(task, []byte(task)), true)
			}
		}
		a.answered(endedWith("mine", []byte("mine")), true)
		all := posted()
		if len(all) != 3 {
			t.Fatalf("%d messages, want one for each client and one for the task", len(all))
		}
		clear(said)
		for _, m := range all {
			for task, announcement := range record.Entries(m.Data) {
				o, err := record.DecodeAnnouncement(announcement)
				if err != nil || string(o.Data) != task || m.Subject != "done."+record.Audience(task) {
					t.Fatalf("%s on %s: %+v, %v", task, m.Subject, o, err)
				}
				said[m.Subject] = append(said[m.Subject], task)
			}
		}
		for _, c := range clients {
			if n := len(said["done."+c]); n != 20 || said["done."+c][7] != c+".7" {
				t.Errorf("%d of 20 announced to %s: %v", n, c, said["done."+c])
			}
		}
	}
	if rest := posted(); len(rest) > 0 {
		t.Errorf("announced twice: %d", len(rest))
	}
}

// TestABulletinIsNotLargerThanAMessage: what would be goes out before. A large announcement goes to
// the clients that wait for that task. An outcome that no message can hold is to be read.
func TestABulletinIsNotLargerThanAMessage(t *testing.T) {
	client := nuid.Next()
	for _, most := range []int{1 << 10, 4 << 10, 1 << 20} {
		a, posted := posts(most)
		want, got := map[string]string{}, map[string]string{}
		add := func(n, size int) {
			task := fmt.Sprint(client, ".", n)
			end := endedWith(task, bytes.Repeat([]byte{'x'}, size))
			announcement := record.EncodeAnnouncement(&end.op)
			switch {
			case len(task)+len(announcement)+framing > most:
				want[task] = "to read, to all"
			case len(announcement) > 2048:
				want[task] = "alone"
			default:
				want[task] = "to all"
			}
			a.answered(end, true)
		}
		for i := range 200 {
			add(i, 10*i)
		}
		for i := range 40 {
			add(200+i, 1000*i)
		}
		for _, m := range posted() {
			n := 0
			for task, announcement := range record.Entries(m.Data) {
				n++
				if len(announcement) == 0 {
					got[task] = "to read, "
				}
				switch m.Subject {
				case "done." + client:
					got[task] += "to all"
				case "done." + task:
					got[task] += "alone"
				}
			}
			if len(m.Data) > most || n > 1 && len(m.Data) > bulletinSize {
				t.Errorf("%d bytes for %d tasks, where %d are most", len(m.Data), n, most)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("up to %d bytes: announced %v, want %v", most, got, want)
		}
	}
}

// TestNothingIsKeptOfAWideTurn: every later one would walk over it.
func TestNothingIsKeptOfAWideTurn(t *testing.T) {
	a, posted := posts(1 << 20)
	wide := a.bulletins
	for i := range 10 * manyAudiences {
		a.announce(fmt.Sprint(i), nil)
	}
	if n := len(posted()); n != 10*manyAudiences {
		t.Fatalf("%d messages", n)
	}
	if a.bulletins["x"] = nil; len(a.bulletins) != 1 || len(wide) == 1 {
		t.Errorf("the same map continues: %d, %d", len(a.bulletins), len(wide))
	}
}

// TestTheLastOutcomesOfATermAreAnnounced: those that are answered while the loop has ended.
func TestTheLastOutcomesOfATermAreAnnounced(t *testing.T) {
	a, posted := posts(1 << 20)
	out := a.out.(*recorder)
	s := &scheduler{in: mailbox.New[any](), announcer: a}
	s.in.Put(singleDone{endedWith("one", nil), natskv.Result{Outcome: natskv.Won, Revision: 7}})
	s.in.Put(batchDone{
		list:   []write{*endedWith("two", nil), *endedWith("three", nil)},
		result: natskv.Result{Outcome: natskv.Won, Revision: 9},
	})
	s.in.Put(singleDone{endedWith("refused", nil), natskv.Result{Outcome: natskv.Refused}})
	s.announceLast()
	if sent := out.take(); len(sent) != 3 {
		t.Errorf("%d of 3 messages were sent", len(sent))
	}
	if late := posted(); len(late) > 0 {
		t.Errorf("%d are left, and nobody sends them", len(late))
	}
}
