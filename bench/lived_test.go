//go:build realtime

package bench

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// BenchmarkLivedBucket: in a bucket in which many sessions have ended, or many roles were led, from
// connecting until a session leads a vacant role. Records of ended sessions leave after twice the
// longest TTL: of 50,000 sessions that ended evenly over a day 140 are left. Of former roles a
// thousand vacancies stay, and the markers of the last lease time, ten seconds: of 400,000 names
// within a day 46, and within an hour 1,111.
func BenchmarkLivedBucket(b *testing.B) {
	for _, lived := range []struct{ ended, former, removed, rounds int }{
		{0, 0, 0, 20},
		{140, 0, 0, 20},
		{1_000, 0, 0, 20},
		{8_000, 0, 0, 20},
		{0, 1_000, 46, 20},
		{0, 1_000, 1_111, 20},
		{0, 20_000, 0, 10},
	} {
		b.Run(fmt.Sprintf("ended=%d/former=%d/removed=%d", lived.ended, lived.former, lived.removed), func(b *testing.B) {
			s := natstest.Server(b, natstest.Listen)
			nc := natstest.Connect(b, s)
			bucket, err := natskv.Create(b.Context(), nc, natskv.Config{Bucket: "roles"})
			if err != nil {
				b.Fatal(err)
			}
			bury(b, nc, bucket, lived.ended, lived.former, lived.removed)
			var took sample
			for b.Loop() {
				for range lived.rounds {
					l := newLedger()
					began := time.Now()
					p := join(b, s, election.SessionConfig{Bucket: "roles", InstanceID: fmt.Sprint("a", len(took.all))})
					p.campaign(b, "role", l)
					_, last := l.after(b, "promotions", &l.began, began, 1)
					took.add(last.Sub(began))
					if err := p.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			took.report(b, "")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkRoleNames: a process leads a role and gives it up, again and again, under one name or
// under a fresh name each time. The names of the first thousand stay in the bucket for a day.
func BenchmarkRoleNames(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		name := "one"
		if fresh {
			name = "fresh"
		}
		b.Run("names="+name, func(b *testing.B) {
			s := natstest.Server(b, natstest.Listen)
			p := join(b, s, election.SessionConfig{
				Bucket: "roles", BucketAutoCreate: true, InstanceID: "a", CoolDown: time.Millisecond,
			})
			n := 0
			for b.Loop() {
				role := "role"
				if n++; fresh {
					role = fmt.Sprint("role-", n)
				}
				l := newLedger()
				began := time.Now()
				e := p.campaign(b, role, l)
				l.after(b, "promotions", &l.began, began, 1)
				if err := e.Stop(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// bury writes what is left of sessions that have ended evenly over the last minute, half of them
// closed and half killed, of roles that were given up, and of roles that were removed then.
func bury(b *testing.B, nc *nats.Conn, bucket *natskv.Bucket, ended, former, removed int) {
	b.Helper()
	w, err := natskv.NewWriter(nc, bucket)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var open sync.WaitGroup
	put := func(op natskv.Write) {
		op.TTL = time.Hour // so that all are there until the end
		open.Add(1)
		w.Submit(op, time.Minute, func(r natskv.Result) {
			if r.Err != nil {
				b.Error(r.Err)
			}
			open.Done()
		})
	}
	for i := range ended {
		p := record.Peer{Class: record.Candidate, Instance: fmt.Sprintf("pod-7d4b9c6f5-%05d", i)}
		l := record.Lease{
			V: record.Version, Session: 1_790_000_000_000_000 + uint64(i), Nonce: fmt.Sprintf("%026d", i), State: record.Closed,
		}
		if i%2 == 0 {
			l.State, l.By = record.Killed, "another"
		}
		put(natskv.Write{Key: record.LeaseKey(p), Value: record.Encode(l), Delete: true})
		if i < ended/6 { // the markers of the last lease time, ten seconds
			put(natskv.Write{Key: record.MemberKey(p), Delete: true})
		}
		if i%500 == 499 {
			open.Wait()
		}
	}
	for i := range former + removed {
		vacant := record.Role{V: record.Version, Vacant: true, By: "a", Reason: "stepped down", TTLms: 10_000}
		put(natskv.Write{
			Key: record.RoleKey(fmt.Sprintf("tenant-%06d", i)), Value: record.Encode(vacant), Delete: i >= former,
		})
		if i%500 == 499 {
			open.Wait()
		}
	}
	open.Wait()
}
