package client

import (
	"testing"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// success announces that a task has succeeded.
var success = func() []byte {
	h, data := record.EncodeOutcome("k", tasks.Outcome{Status: tasks.StatusSucceeded, Tries: 1}, "", nil)
	return record.EncodeAnnouncement(&natskv.Write{Key: record.QueueKey + "id", Header: h, Value: data})
}()

// TestNobodyIsListenedForAfterAReconnectForWhomNobodyWaits: their outcomes may have been missed,
// and would never come.
func TestNobodyIsListenedForAfterAReconnectForWhomNobodyWaits(t *testing.T) {
	ws := &waiters{open: map[string]*waiter{}, renewed: make(chan struct{})}
	lost, kept := ws.expect("lost"), ws.expect("kept")
	ws.joinAs("kept", kept)
	ws.renew()
	if len(ws.open) != 1 || ws.open["kept"] != kept {
		t.Errorf("listened for: %v", ws.open)
	}
	for id, w := range map[string]*waiter{"lost": lost, "kept": kept} {
		if w = ws.joinAs(id, w); ws.open[id] != w {
			t.Errorf("%s is not listened for", id)
		}
		if o, heard, _, _ := ws.look(w); o != nil || heard {
			t.Errorf("%s: a client that waits must read first", id)
		}
		_, _, _, changed := ws.look(w)
		ws.announce(id, success)
		<-changed
		if o, heard, _, _ := ws.look(w); o != nil || heard {
			t.Errorf("%s: a client that has not listened all the time must read", id)
		}
		ws.leave(id, w)
	}
	if len(ws.open) != 1 { // kept was waited for twice
		t.Errorf("listened for: %v", ws.open)
	}
}

func TestWhoHasListenedSinceBeforeTheSubmissionTakesTheAnnouncement(t *testing.T) {
	for _, waits := range []bool{false, true} {
		ws := &waiters{open: map[string]*waiter{}, renewed: make(chan struct{})}
		w := ws.expect("id")
		if waits {
			w = ws.joinAs("id", w)
		}
		ws.announce("other", success)
		_, _, _, changed := ws.look(w)
		ws.announce("id", success)
		<-changed
		if o, _, _, _ := ws.look(w); o == nil || len(ws.open) != 0 {
			t.Errorf("waits %v: %v, listened for: %v", waits, o, ws.open)
		}
	}
}

// TestAnAnnouncementWithoutAnOutcomeIsAWordToRead: of those for whom nobody waits nothing is kept.
func TestAnAnnouncementWithoutAnOutcomeIsAWordToRead(t *testing.T) {
	ws := &waiters{open: map[string]*waiter{}, renewed: make(chan struct{})}
	idle, waited := ws.expect("idle"), ws.expect("waited")
	ws.joinAs("waited", waited)
	_, _, _, changed := ws.look(waited)
	ws.announce("idle", nil)
	ws.announce("waited", nil)
	<-changed
	for id, w := range map[string]*waiter{"idle": idle, "waited": waited} {
		if o, heard, _, _ := ws.look(w); o != nil || heard {
			t.Errorf("%s: a client that waits must read", id)
		}
	}
	if len(ws.open) != 1 || ws.open["waited"] != waited {
		t.Errorf("listened for: %v", ws.open)
	}
}
