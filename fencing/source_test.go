package fencing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestForeignSource: a term of another bucket of roles is refused, whichever epoch is higher, and
// told both buckets and the repair. A bucket that was adopted continues: only an epoch that has
// gone back is refused. A seal and a token that do not say of which bucket they are count as ever.
func TestForeignSource(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, server *natsrun.Server) {
		js := must(jetstream.New(natstest.Connect(t, server)))
		first, other, adopted := &Source{"a", "1"}, &Source{"b", "2"}, &Source{"a", "3"}
		for _, c := range []struct {
			name string
			tok  Token
			want error
		}{
			{"the first", term(5).WithSource(first), nil},
			{"of another bucket, later", term(9).WithSource(other), ErrForeignSource},
			{"of another bucket, earlier", term(4).WithSource(other), ErrForeignSource},
			{"earlier", term(4).WithSource(first), ErrStale},
			{"of the adopted bucket", term(8).WithSource(adopted), nil},
			{"of an adopted bucket that went back", term(7).WithSource(first), ErrForeignSource},
			{"that does not say", term(10), nil},
			{"after one that does not say", term(11).WithSource(other), nil},
			{"after one that does not say, earlier", term(10).WithSource(other), ErrStale},
		} {
			_, err := OpenStore(t.Context(), js, testBucket, c.tok, WithCreate(1))
			if !errors.Is(err, c.want) {
				t.Errorf("a term %s: %v, want %v", c.name, err, c.want)
			}
			if c.tok.Epoch == 9 && !strings.Contains(err.Error(), `"a" (scheduler@5 held by node-5)`) ||
				c.tok.Epoch == 9 && !strings.Contains(err.Error(), "nats stream purge KV_data --subject '$KV.data._fence.seal'") {
				t.Errorf("the error of a later term of another bucket: %v", err)
			}
		}
	})
}

// TestBucketOfRolesIsNoStore: a bucket in which processes have leases gets no seal.
func TestBucketOfRolesIsNoStore(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, server *natsrun.Server) {
		nc := natstest.Connect(t, server)
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: testBucket}); err != nil {
			t.Fatal(err)
		}
		must(nc.Request("$KV."+testBucket+".c.lease.x", []byte("{}"), time.Minute))
		_, err := openOver(t, nc, term(5))
		if err == nil || !strings.Contains(err.Error(), "it is a bucket of roles") {
			t.Errorf("opened over a lease: %v", err)
		}
	})
}
