package natskv

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAPromotedMirrorIsACopy: with and without the metadata of its origin. It is refused, and an
// adoption makes it a bucket of its own, whose revisions are above all that the origin can have
// given.
func TestAPromotedMirrorIsACopy(t *testing.T) {
	for _, described := range []bool{true, false} {
		h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}}})
		home, site := natstest.Connect(t, h), natstest.Connect(t, h.Leaf(0))
		origin, err := Create(t.Context(), home, Config{Bucket: "b", MaxTTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, home, origin)
		for range 10 {
			if r := write(t, w, Write{Key: "k", Expect: lastOf(t, origin)}, time.Second); r.Outcome != Won {
				t.Fatal(r.Err)
			}
		}
		promote(t, home, site, described)
		_, err = Open(t.Context(), site, "b")
		copied := (*CopiedBucketError)(nil)
		switch {
		case err == nil || !strings.Contains(err.Error(), `"rolectl bucket adopt b"`):
			t.Errorf("described %t: it opens: %v", described, err)
		case described && (!errors.Is(err, ErrCopiedBucket) || !Permanent(err) || !errors.As(err, &copied) ||
			copied.Written.Domain != "hub" || copied.Found.Domain != "site"):
			t.Errorf("with its metadata: %v", err)
		}
		if _, err := (Reach{}).Owner(site, "b").Here(t.Context()); err == nil {
			t.Errorf("described %t: it is taken for the bucket itself", described)
		}
		adoptNow(t, site, "b")
		b, err := Open(t.Context(), site, "b")
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.Inspect(t.Context())
		if least := lastOf(t, origin) + uint64(aDay.Microseconds()); err != nil || !b.Adopted() || s.Keys != 0 ||
			s.LastSeq+1 < least || b.Identity().ID == origin.Identity().ID {
			t.Errorf("adopted: %+v, %v, want revisions from %d", s, err, least)
		}
	}
}

// promote makes the mirror of the hub's bucket at a site a stream of its own.
func promote(t *testing.T, home, site *nats.Conn, described bool) {
	t.Helper()
	js, err := jetstream.New(site)
	if err != nil {
		t.Fatal(err)
	}
	hub, err := jetstream.New(home)
	if err != nil {
		t.Fatal(err)
	}
	of, err := hub.Stream(t.Context(), "KV_b")
	if err != nil {
		t.Fatal(err)
	}
	cfg := of.CachedInfo().Config
	cfg.FirstSeq = 0 // a mirror has none
	if !described {
		cfg.Metadata = nil
	}
	m, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: cfg.Name, Metadata: cfg.Metadata, MaxMsgsPerSubject: 1, AllowMsgTTL: true, MaxConsumers: cfg.MaxConsumers,
		Discard: cfg.Discard, DenyDelete: true, AllowRollup: true,
		Mirror: &jetstream.StreamSource{Name: "KV_b", External: &jetstream.ExternalStream{APIPrefix: "$JS.hub.API"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := of.CachedInfo().State.LastSeq
	natstest.Eventually(t, "the mirror has it all", 20*time.Second, func() (bool, string) {
		info, err := m.Info(t.Context())
		return err == nil && info.State.LastSeq >= want, "it is behind"
	})
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func lastOf(t *testing.T, b *Bucket) uint64 {
	t.Helper()
	s, err := b.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Keys == 0 {
		return 0
	}
	return s.LastSeq
}

// adoptNow adopts a bucket without sessions.
func adoptNow(t *testing.T, nc *nats.Conn, bucket string) Identity {
	t.Helper()
	a, err := (Reach{}).Owner(nc, bucket).Adopt(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	i, err := a.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestADomainThatIsGiven: the servers of a bucket get a JetStream domain. A process that has it
// open writes on. A bucket that is opened is refused, since a copy looks the same, until its owner
// says that it is here.
func TestADomainThatIsGiven(t *testing.T) {
	dir := t.TempDir()
	domain := ""
	s := natstest.Server(t, natstest.Listen, func(o *natsrun.Options) {
		o.StoreDir = dir
		o.Configure = func(so *server.Options) { so.JetStreamDomain = domain }
	})
	nc := natstest.Connect(t, s, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	b, err := Create(t.Context(), nc, Config{Bucket: "b", Storage: jetstream.FileStorage})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	first := write(t, w, Write{Key: "k"}, time.Second)
	if first.Outcome != Won {
		t.Fatal(first.Err)
	}
	domain = "hub"
	s.Stop()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the writer writes again", 20*time.Second, func() (bool, string) {
		r := write(t, w, Write{Key: "k", Expect: first.Revision}, time.Second)
		if Permanent(r.Err) {
			t.Fatal(r.Err)
		}
		return r.Outcome != Unknown, r.Outcome.String()
	})
	if err := b.Identify(t.Context(), nc); err != nil {
		t.Errorf("a process that has it open: %v", err)
	}
	_, err = Open(t.Context(), nc, "b")
	if !errors.Is(err, ErrCopiedBucket) || !strings.Contains(err.Error(), `"rolectl bucket move b --here"`) {
		t.Errorf("opened in the domain: %v", err)
	}
	here, err := (Reach{}).Owner(nc, "b").Here(t.Context())
	if err != nil || here.Domain != "hub" || here.ID != b.Identity().ID {
		t.Errorf("here: %v, %v", here, err)
	}
	if _, err := Open(t.Context(), nc, "b"); err != nil {
		t.Errorf("opened since: %v", err)
	}
}

// TestWhileItIsAdopted: nobody opens the bucket, and of two adoptions the later one counts.
func TestWhileItIsAdopted(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	b, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if b.Adopted() {
		t.Error("a new bucket is an adopted one")
	}
	first, err := (Reach{}).Owner(nc, "b").Adopt(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), nc, "b"); !errors.Is(err, ErrAdopting) || Permanent(err) {
		t.Errorf("opened: %v", err)
	}
	if _, err := Create(t.Context(), nc, Config{Bucket: "b"}); !errors.Is(err, ErrAdopting) {
		t.Errorf("created: %v", err)
	}
	err = b.Identify(t.Context(), nc)
	if !errors.Is(err, ErrOtherBucket) || !strings.Contains(err.Error(), "being adopted") {
		t.Errorf("a process that has it open is told %v", err)
	}
	second, err := (Reach{}).Owner(nc, "b").Adopt(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Purge(t.Context()); !errors.Is(err, ErrAdoptedByAnother) {
		t.Errorf("the first one purges: %v", err)
	}
	if _, err := first.Finish(t.Context()); !errors.Is(err, ErrAdoptedByAnother) {
		t.Errorf("the first one finishes: %v", err)
	}
	if floor, err := second.Purge(t.Context()); err != nil || floor <= first.floor {
		t.Fatalf("floor %d after %d: %v", floor, first.floor, err)
	}
	if i, err := second.Finish(t.Context()); err != nil || i.ID == b.Identity().ID || adopting(i.ID) {
		t.Errorf("adopted: %v, %v", i, err)
	}
	if _, err := second.Finish(t.Context()); !errors.Is(err, ErrAdoptedByAnother) {
		t.Errorf("finished twice: %v", err)
	}
}

// TestALatePurge: the purge of an adoption that was overtaken is carried out when the last one has
// ended and the bucket is used again. It removes nothing, whatever the clocks of the operators say.
func TestALatePurge(t *testing.T) {
	for _, storage := range []jetstream.StorageType{jetstream.FileStorage, jetstream.MemoryStorage} {
		nc := natstest.Connect(t, natstest.Server(t))
		if _, err := Create(t.Context(), nc, Config{Bucket: "b", Storage: storage}); err != nil {
			t.Fatal(err)
		}
		owner := (Reach{}).Owner(nc, "b")
		overtaken := uint64(time.Now().Add(90 * aDay).UnixMicro()) // by an operator whose clock is ahead
		info, cfg, err := owner.info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		meta := described(&info.StreamInfo, map[string]string{
			metaID: beingAdopted + newID(), metaFloor: strconv.FormatUint(overtaken, 10),
		})
		if err := owner.update(t.Context(), cfg, map[string]any{"metadata": meta}); err != nil {
			t.Fatal(err)
		}
		adoptNow(t, nc, "b")
		b, err := Open(t.Context(), nc, "b")
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, nc, b)
		before := write(t, w, Write{Key: "c.role.r"}, time.Second).Revision
		for _, floor := range []uint64{overtaken, overtaken - 1} {
			if err := owner.purge(t.Context(), floor); err != nil {
				t.Error(err)
			}
		}
		if r := write(t, w, Write{Key: "c.role.r", Expect: before}, time.Second); r.Outcome != Won || r.Revision <= before {
			t.Errorf("%v: after a purge below %d nothing is at revision %d: %+v", storage, overtaken, before, r)
		}
	}
}

// TestASlowMark: an adoption that may not have seen the floor of another one does not begin.
func TestASlowMark(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		if _, err := Create(t.Context(), natstest.Connect(t, s), Config{Bucket: "b", MaxTTL: 8 * time.Second}); err != nil {
			t.Fatal(err)
		}
		link := s.Link()
		owner := (Reach{}).Owner(natstest.Connect(t, s, link.Options()...), "b")
		link.Delay(time.Second)
		if _, err := owner.Adopt(t.Context(), nil); !errors.Is(err, ErrSlowMark) {
			t.Errorf("three questions of two seconds each: %v", err)
		}
		link.Heal()
		if _, err := owner.Adopt(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestAFloorBelowTheLastRevision is not a floor: the server purges a part, or nothing.
func TestAFloorBelowTheLastRevision(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	b, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	r := write(t, w, Write{Key: "k"}, time.Second)
	if err := (Reach{}).Owner(nc, "b").purge(t.Context(), r.Revision-1); err != nil {
		t.Errorf("one that is reached: %v", err)
	}
	if err := (Reach{}).Owner(nc, "b").purge(t.Context(), r.Revision+10); err != nil {
		t.Errorf("above the last revision: %v", err)
	}
	silent := time.Now().Add(-40 * aDay)
	info := &streamAnswer{}
	info.State.LastSeq, info.State.LastTime, info.TimeStamp = 7, silent, time.Now()
	if floor, least := floorAfter(info, time.Now().Add(-time.Hour)), uint64(info.TimeStamp.UnixMicro()); floor < least {
		t.Errorf("floor %d is below the server's clock %d", floor, least)
	}
	info.State.LastSeq = uint64(time.Now().Add(80 * aDay).UnixMicro()) // the origin's clock was ahead
	if floor, least := floorAfter(info, time.Now()), info.State.LastSeq+uint64((40*aDay).Microseconds()); floor < least {
		t.Errorf("floor %d is not above what was written in 40 days of silence, %d", floor, least)
	}
}

// TestClocksApart: a bucket is not created by a clock that is far from the server's.
func TestClocksApart(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	for _, ahead := range []time.Duration{2 * time.Minute, -2 * time.Minute, 20 * time.Second, -20 * time.Second} {
		at := bucketPlace("b", Reach{})
		now := time.Now().Add(-ahead)
		cfg := streamConfig(Config{Bucket: "b"}.withDefaults(), now)
		info, err := createStream(t.Context(), nc, at, cfg)
		if err != nil {
			t.Fatal(err)
		}
		info, err = (&Owner{nc, at}).settle(t.Context(), info, now, 0)
		if far := ahead.Abs() > time.Minute; far {
			if clocks := (*ClockError)(nil); !errors.As(err, &clocks) {
				t.Errorf("%v apart: %v", ahead, err)
			}
			if _, err := Open(t.Context(), nc, "b"); !errors.Is(err, ErrBucketNotFound) {
				t.Errorf("%v apart, it is there: %v", ahead, err)
			}
			continue
		}
		if err != nil || info.State.LastSeq+1 < uint64(info.Created.UnixMicro())-uint64(time.Second.Microseconds()) {
			t.Errorf("%v apart: it begins at %d, created %v, %v", ahead, info.State.LastSeq+1, info.Created, err)
		}
		if !atHome(&info.StreamInfo) {
			t.Errorf("%v apart: it does not say where it is: %v", ahead, info.Config.Metadata)
		}
		if err := request(context.Background(), nc, at, at.api("STREAM.DELETE"), nil, &streamAnswer{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnAnswerFromAnotherDomain: over the connection on which the store was identified, it is
// another store's. Over a later one it says nothing yet: the servers may have a domain now.
func TestAnAnswerFromAnotherDomain(t *testing.T) {
	nc := natstest.Connect(t, natstest.Server(t))
	b, err := Create(t.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, nc, b)
	if r := write(t, w, Write{Key: "k"}, time.Minute); r.Outcome != Won {
		t.Fatal(r.Err)
	}
	answered := func() (r Result) {
		w.mu.Lock()
		w.open[0] = &pending{done: func(result Result) { r = result }, slot: slot{index: -1}}
		w.mu.Unlock()
		w.answer(0, []byte(`{"stream":"KV_b","domain":"hub","seq":2}`))
		return r
	}
	if r := answered(); r.Outcome != Unknown || !errors.Is(r.Err, ErrOtherBucket) || !Permanent(r.Err) {
		t.Errorf("over this connection: %+v", r)
	}
	w.entry.on.Add(1) // the identity was read on another one
	if r := answered(); r.Outcome != Unknown || r.Err == nil || Permanent(r.Err) ||
		!strings.Contains(r.Err.Error(), `"hub"`) {
		t.Errorf("over another connection: %+v", r)
	}
}
