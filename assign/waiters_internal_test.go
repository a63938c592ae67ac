package assign

import "testing"

// TestNobodyIsListenedForAfterAReconnectForWhomNobodyWaits: their outcomes may have been missed, and would never come.
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
			t.Errorf("%s: whoever waits must read first", id)
		}
		ws.deliver(id, &outcome{})
		if o, _, _, changed := ws.look(w); o == nil {
			t.Errorf("%s was not delivered", id)
		} else {
			<-changed
		}
	}
	if len(ws.open) != 0 {
		t.Errorf("listened for though it was delivered: %v", ws.open)
	}
}
