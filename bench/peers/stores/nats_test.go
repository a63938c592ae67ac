package stores

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func startNATS(t *testing.T) (*natsServer, *nats.Conn) {
	t.Helper()
	s, err := serveNATS(config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	n := s.(*natsServer)
	nc, err := nats.Connect("nats://" + n.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		if err := n.s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return n, nc
}

// Messages to the comparison itself are in none of its figures.
func TestTheCounterOfWritesIsNotCounted(t *testing.T) {
	n, nc := startNATS(t)
	const writes, size = 50, 1000
	if _, err := n.traffic(); err != nil { // counts from here on
		t.Fatal(err)
	}
	for i := range writes {
		m := nats.NewMsg(fmt.Sprintf("$KV.b.role-%d", i))
		m.Data, m.Header = make([]byte, size), nats.Header{"A": {"b"}}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	var got Traffic
	for end := time.Now().Add(20 * time.Second); got.Roles != writes; time.Sleep(time.Millisecond) {
		var err error
		if got, err = n.traffic(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", got)
		}
	}
	if got.In != writes || got.Writes != writes || got.Out != 0 || got.BytesOut != 0 || got.BytesIn < writes*size {
		t.Errorf("%+v", got)
	}
}

// A client that watches each role with a consumer of its own receives all of them.
func TestAStreamHasAnyNumberOfConsumers(t *testing.T) {
	_, nc := startNATS(t)
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateKeyValue(&nats.KeyValueConfig{Bucket: "b", Storage: nats.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1100 {
		if _, err := kv.Watch(fmt.Sprint("role-", i)); err != nil {
			t.Fatalf("watch %d: %v", i, err)
		}
	}
}
