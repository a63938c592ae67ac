package assign

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nuid"

	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"

	"github.com/nats-io/nats.go"
)

func TestTheTasksOfAClientHaveOneAudience(t *testing.T) {
	client := nuid.Next()
	for task, want := range map[string]string{
		client + ".1": client, client + ".zz": client, client: client, client + "x.1": client + "x.1", client[1:] + ".1": client[1:] + ".1",
		"a." + client[3:] + ".1": "a." + client[3:] + ".1", "order.17": "order.17", "x": "x",
	} {
		if got := audience(task); got != want {
			t.Errorf("%s is announced to %s, want %s", task, got, want)
		}
	}
}

// posts are the messages that an announcer sends.
func posts(most int) (*announcer, func() []*nats.Msg) {
	out := &courier{box: mailbox.New[*nats.Msg]()}
	a := newAnnouncer(out, func(audience string) string { return "done." + audience }, most)
	a.begin()
	return a, func() []*nats.Msg {
		a.flush()
		return out.box.Drain(nil)
	}
}

func endedWith(task string, data []byte) *commit {
	h, data := encodeOutcome("k", tasks.Outcome{Status: tasks.StatusSucceeded, Tries: 1, Body: &tasks.Finding{Data: data}}, "", nil)
	return &commit{op: natskv.Write{Key: queueKey + task, Header: h, Value: data}}
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
			for task, announcement := range entries(m.Data) {
				o, err := decodeAnnouncement(announcement)
				if err != nil || string(o.data) != task || m.Subject != "done."+audience(task) {
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

// TestABulletinIsNotLargerThanAMessage: what would be goes out before, and what no message can hold is to be read.
func TestABulletinIsNotLargerThanAMessage(t *testing.T) {
	client := nuid.Next()
	for _, most := range []int{2 << 10, bulletinSize / 2, 1 << 20} {
		a, posted := posts(most)
		var want, got []string
		for i := range 40 {
			task, size := fmt.Sprint(client, ".", i), 1000*i
			what := task
			if size > most-200 { // the id and the header of the outcome are more than half of that
				what += " to read"
			}
			want = append(want, what)
			a.answered(endedWith(task, bytes.Repeat([]byte{'x'}, size)), true)
		}
		for _, m := range posted() {
			n := 0
			for task, announcement := range entries(m.Data) {
				n++
				if len(announcement) == 0 {
					task += " to read"
				}
				got = append(got, task)
			}
			if len(m.Data) > most || n > 1 && len(m.Data) > bulletinSize {
				t.Errorf("%d bytes for %d tasks, where %d are most", len(m.Data), n, most)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("up to %d bytes: announced %v, want %v", most, got, want)
		}
	}
}
