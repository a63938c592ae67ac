//go:build realtime

package tasksim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

var conformance = flag.Int("tasksim.conformance", thorough.Pick(6, 10),
	"how many programs to run on the model of the stream and on a real one")

// TestStoreConforms: the model of a namespace's stream and a stream of the real server, given the
// same conditional writes, and copies of former ones, store the same at the same places, and show
// the same at every subject, to a reader too who begins late. Both have one record of a subject,
// and forget those that are kept for a time when that is over: what stands there is nothing then.
func TestStoreConforms(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	if err := checks.Set(fmt.Sprint(*conformance)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = checks.Set(before) }() // it was that already
	ats.Register()                            // see natstest.Main
	defer ats.Unregister()
	won, refused, expired := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawWrite), 20, 150).Draw(rt, "writes")
		s, err := conforms(t, steps)
		if err != nil {
			rt.Fatal(err)
		}
		won, refused, expired = won+s.won, refused+s.refused, expired+s.expired
	})
	t.Logf("%d writes were stored, %d refused, %d records expired", won, refused, expired)
	if won == 0 || refused == 0 || expired == 0 {
		t.Error("that proves nothing")
	}
}

// drawnWrite is a write of a scheduler or a client: of one record, or of several as one, each on
// its own condition.
type drawnWrite struct {
	records []drawnRecord
	replay  bool
	which   int
	kept    bool // for a time, all of it
	waits   bool // before it, until that is over
}

// keptFor is how long, in virtual time alone: on real servers nothing is.
const keptFor = 10 * time.Second

// drawnRecord is for a subject, if on is as far back from its last record as it says.
type drawnRecord struct {
	subject, on string
	back        int // 0: the last, 1: the one before it, 2: none, 3: one that is not there yet
}

var storeSubjects = []string{"q.t1", "q.t2", "q.t3", "t.t1", "t.t2", sealSubject}

func drawWrite(t *rapid.T) drawnWrite {
	w := drawnWrite{replay: rapid.IntRange(0, 4).Draw(t, "replay") == 4, which: rapid.IntRange(0, 99).Draw(t, "which")}
	w.kept, w.waits = rapid.IntRange(0, 2).Draw(t, "kept") == 2, rapid.IntRange(0, 9).Draw(t, "waits") == 9
	subjects := rapid.Permutation(storeSubjects).Draw(t, "subjects")
	n := rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "records")
	if n > 1 { // the seal is written alone, since others name it
		subjects = slices.DeleteFunc(subjects, func(s string) bool { return s == sealSubject })
	}
	for _, subject := range subjects[:n] {
		r := drawnRecord{subject, subject, rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2, 3}).Draw(t, "back")}
		if rapid.IntRange(0, 2).Draw(t, "under the seal") > 0 {
			r.on = sealSubject
		}
		w.records = append(w.records, r)
	}
	return w
}

// TestStoreConformsOnReplicas: on three replicas, which check conditions before they agree, all the
// same. A tick is one of those writes (its task where nothing stands, and that it was the last,
// under the seal), and so is an outcome that may have been stored before (in the place of its
// submission only, and its note, under the seal).
func TestStoreConformsOnReplicas(t *testing.T) {
	s := natstest.Cluster(t)
	const long = 120
	for try := range 10 {
		steps := rapid.SliceOfN(rapid.Custom(drawWrite), long, long).Example(try + 1)
		seen, err := inStep(s, fmt.Sprint("ns", try), 3, steps)
		switch {
		// servers that have no time elect another leader: what was stored by then was compared
		case errors.Is(err, errUncertain):
			t.Logf("try %d: cut short after %d writes: %v", try, seen.won+seen.refused, err)
			continue
		case err != nil:
			t.Fatal(err)
		}
		t.Logf("%d writes were stored, %d refused", seen.won, seen.refused)
		if seen.won == 0 || seen.refused == 0 {
			t.Error("that proves nothing")
		}
		return
	}
	t.Error("no program could be compared to its end")
}

func conforms(t *testing.T, steps []drawnWrite) (seen tally, err error) {
	natstest.Virtual(t, func(*testing.T) {
		s, e := natsrun.Start(natsrun.Options{VirtualTime: true})
		if err = e; err != nil {
			return
		}
		defer func() {
			time.Sleep(time.Second) // a goroutine that was about to flush a file has done so
			err = errors.Join(err, s.Shutdown())
		}()
		seen, err = inStep(s, "ns", 1, steps)
	})
	return seen, err
}

// tally is what a program came to.
type tally struct{ won, refused, expired int }

// server is one, or several of which one is meant.
type server interface {
	Connect(opts ...nats.Option) (*nats.Conn, error)
}

// errUncertain is that a program cannot be compared to its end: the server has not said what became
// of a write.
var errUncertain = errors.New("not known to be stored, or not")

// inStep does everything on both.
func inStep(s server, namespace string, replicas int, steps []drawnWrite) (seen tally, err error) {
	nc, err := s.Connect()
	if err != nil {
		return seen, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	stream, err := natskv.Reach{}.CreateStream(ctx, nc, namespace+".", jetstream.StreamConfig{
		Name: "TASKS_" + namespace, Subjects: []string{namespace + ".q.>", namespace + ".t.>", namespace + ".seal"},
		MaxMsgsPerSubject: 1,
		Discard:           jetstream.DiscardNew, DenyDelete: true, AllowMsgTTL: true, AllowAtomicPublish: true,
		Replicas: replicas,
	}, func(*jetstream.StreamInfo) []string { return nil })
	if err != nil {
		return seen, err
	}
	writer, err := natskv.NewWriter(nc, stream)
	if err != nil {
		return seen, err
	}
	defer writer.Close()
	var model taskStream
	model.init(&taskWorld{})
	var sent [][]put
	kept := map[string]uint64{} // sequences of records that expire, by subject
	for i, step := range steps {
		if step.waits && replicas == 1 {
			time.Sleep(2 * keptFor)
			for subject, sequence := range kept {
				if model.expire(subject, sequence) {
					seen.expired++
				}
			}
			clear(kept)
		}
		var ttl time.Duration
		if step.kept && replicas == 1 {
			ttl = keptFor
		}
		var puts []put
		for j, r := range step.records {
			p := put{r.subject, fmt.Sprint("value ", i, ".", j), r.on, model.last[r.on]}
			switch r.back {
			case 1:
				p.expect = before(&model, r.on)
			case 2:
				p.expect = 0
			case 3:
				p.expect = uint64(len(model.log)) + 1
			}
			puts = append(puts, p)
		}
		if step.replay && len(sent) > 0 { // a copy of a former one arrives late
			puts = sent[step.which%len(sent)]
		}
		sent = append(sent, puts)
		answered := make(chan natskv.Result, 1)
		ops := make([]natskv.Write, len(puts))
		for j, p := range puts {
			ops[j] = natskv.Write{Key: p.subject, Value: []byte(p.value.(string)), Expect: p.expect, TTL: ttl}
			if p.on != p.subject {
				ops[j].Guard = &natskv.Guard{Key: p.on, Revision: p.expect}
			}
		}
		writer.SubmitEach(ops, time.Minute, func(r natskv.Result) { answered <- r })
		r := <-answered
		if replicas > 1 && r.Outcome == natskv.Unknown {
			return seen, errUncertain
		}
		outcome, first := model.write(puts...)
		same := outcome == record.Won && r.Outcome == natskv.Won && r.Revision == first+uint64(len(puts))-1 ||
			outcome == record.Refused && r.Outcome == natskv.Refused
		if !same {
			return seen, fmt.Errorf("write %d, %+v: the model says %v from %d, the server %v at %d, %v", i, puts, outcome, first,
				r.Outcome, r.Revision, r.Err)
		}
		if outcome != record.Won {
			seen.refused++
			continue
		}
		seen.won++
		for j, p := range puts {
			if delete(kept, p.subject); ttl > 0 {
				kept[p.subject] = first + uint64(j)
			}
		}
	}
	if replicas == 1 {
		return seen, read(ctx, s, stream, &model)
	}
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for err = read(ctx, s, stream, &model); err != nil && ctx.Err() == nil; err = read(ctx, s, stream, &model) {
		time.Sleep(10 * time.Millisecond) // its server may lag
	}
	if errors.Is(err, context.DeadlineExceeded) { // it has not shown what it stores
		err = errors.Join(errUncertain, err)
	}
	return seen, err
}

// before is the sequence of the record before the last one at a subject, 0 for none.
func before(s *taskStream, subject string) uint64 {
	for i := int(s.last[subject]) - 2; i >= 0; i-- {
		if s.log[i].subject == subject {
			return uint64(i + 1)
		}
	}
	return 0
}

// read compares what a late reader of the stream sees with the model: the last record of every
// subject, in order.
func read(ctx context.Context, s server, stream *natskv.Stream, model *taskStream) error {
	nc, err := s.Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	watch, err := stream.Watch(ctx, nc, "", 0)
	if err != nil {
		return err
	}
	defer watch.Close()
	found, last := 0, uint64(0)
	for u := range watch.C() {
		for i := range u.Entries {
			e := &u.Entries[i]
			if e.Revision <= last || e.Revision != model.last[e.Key] || model.record(e.Key) != any(string(e.Value)) {
				return fmt.Errorf("the reader sees %s at %d, %s; the model has it at %d, %v", e.Key, e.Revision, e.Value,
					model.last[e.Key], model.record(e.Key))
			}
			found, last = found+1, e.Revision
		}
		if u.Snapshot {
			break
		}
	}
	if found != len(model.last) {
		return fmt.Errorf("the reader sees %d records, the model has %d", found, len(model.last))
	}
	return nil
}
