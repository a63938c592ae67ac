package roles_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestBytesRequired: in an account whose streams need a bound, a manager that may create the bucket
// ends and says what to set. With a bound it leads.
func TestBytesRequired(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	natstest.RequireBytes(t, s, 8<<20)
	nc := natstest.Connect(t, s)
	for _, c := range []struct {
		most int64
		says string
	}{
		{0, "account requires a stream config to have max bytes set: set MaxBytes"},
		{16 << 20, "set MaxBytes to less"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m, err := roles.New(
			roles.Config{Conn: nc, Bucket: "bound", BucketAutoCreate: true, MaxBytes: c.most},
			newWork().role("r"),
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Run(ctx); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("with %d bytes: %v", c.most, err)
		}
	}
	w := newWork()
	a := start(t, s, "a", one(w.role("r")), func(c *roles.Config) {
		c.Bucket, c.BucketAutoCreate, c.MaxBytes = "bound", true, 4<<20
	})
	receive(t, "a term", w.began)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if bucket, err := js.Stream(t.Context(), "KV_bound"); err != nil || bucket.CachedInfo().Config.MaxBytes != 4<<20 {
		t.Errorf("%v, %v", bucket, err)
	}
	if err := a.end(); err != nil {
		t.Error(err)
	}
}
