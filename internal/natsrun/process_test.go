package natsrun_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestProcessIsKilledAndComesBack: a server that is a process dies without a farewell, and comes
// back at the same address with everything that it had written.
func TestProcessIsKilledAndComesBack(t *testing.T) {
	p := natstest.Process(t)
	link := p.Link()
	js := natstest.JetStream(t, p, append(persistent(), link.Options()...)...)
	kv, revision := newRecord(t, js)
	url, nc := p.URL(), js.Conn()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the client notices", within,
		func() (bool, string) { return !nc.IsConnected(), nc.Status().String() })
	if _, err := p.Connect(); err == nil {
		t.Error("a killed server takes a connection")
	}
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	expectRecord(t, kv, revision)
	if p.URL() != url || link.Stats().Dials < 2 {
		t.Errorf("%s was %s; %+v", p.URL(), url, link.Stats())
	}
}

// TestProcessWithoutSuchAClock: a program that cannot step its clock reports that by ending, and a
// program that does not start reports why.
func TestProcessWithoutSuchAClock(t *testing.T) {
	p, err := natsrun.StartProcess([]string{"/bin/true"}, natsrun.Options{StoreDir: t.TempDir()})
	if err == nil {
		t.Error("true is not a server", p.Shutdown())
	}
	if _, err := natsrun.StartProcess([]string{"/bin/true"}, natsrun.Options{}); err == nil {
		t.Error("a process was started without a store")
	}
	p, err = natsrun.StartProcess([]string{os.Args[0]}, natsrun.Options{StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Step(time.Second); err == nil {
		t.Error("the clock was stepped by a program that cannot")
	}
	if err := p.Shutdown(); err == nil || errors.Is(err, natsrun.ErrDown) {
		t.Errorf("it ended with %v, want what went wrong", err)
	}
}
