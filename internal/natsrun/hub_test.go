package natsrun

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestHub: what a client sees of the hub's JetStream at each place: which domain answers without a
// prefix, what a prefix reaches, and what a cut uplink stops.
func TestHub(t *testing.T) {
	h, err := StartHub(HubOptions{Domain: "hub", Leaves: []LeafOptions{
		{Name: "site"}, {Name: "relay", NoJetStream: true}, {Name: "led", NoJetStream: true, DefaultDomain: "hub"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Shutdown(); err != nil {
			t.Error(err)
		}
	}()
	linked(t, h)
	atHub := client(t, h.Server)
	js, err := jetstream.NewWithDomain(atHub, "hub")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(),
		jetstream.StreamConfig{Name: "KV_a", Subjects: []string{"$KV.a.>"}}); err != nil {
		t.Fatal(err)
	}
	for i, own := range []string{"site", "", "hub"} { // "" for no answer
		nc := client(t, h.Leaf(i).Server)
		if got := domainAt(nc); got != own {
			t.Errorf("leaf %d: domain %q answers without a prefix, want %q", i, got, own)
		}
		if err := ask(nc, "$JS.hub.API.$KV.a.key"); err != nil {
			t.Errorf("leaf %d: publish through the prefix: %v", i, err)
		}
	}

	leaf := h.Leaf(0)
	nc := client(t, leaf.Server)
	leaf.Uplink.Cut()
	if err := ask(nc, "$JS.hub.API.$KV.a.key"); err == nil {
		t.Error("a request crossed a link that is cut")
	}
	leaf.Uplink.Heal()
	linked(t, h)
	if err := h.Restart(); err != nil {
		t.Fatal(err)
	}
	linked(t, h)
	for err := ask(nc, "$JS.hub.API.$KV.a.key"); err != nil; err = ask(nc, "$JS.hub.API.$KV.a.key") {
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func linked(t *testing.T, h *Hub) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyWithin)
	defer cancel()
	if err := h.WaitLinked(ctx); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, s *Server) *nats.Conn {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// domainAt is the domain that answers an account's question without a prefix.
func domainAt(nc *nats.Conn) string {
	m, err := nc.Request("$JS.API.INFO", nil, time.Second)
	if err != nil {
		return ""
	}
	var info struct {
		Domain string `json:"domain"`
	}
	if json.Unmarshal(m.Data, &info) != nil {
		return ""
	}
	return info.Domain
}

func ask(nc *nats.Conn, subject string) error {
	_, err := nc.Request(subject, []byte("x"), 300*time.Millisecond)
	return err
}
