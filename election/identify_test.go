package election

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestNothingIsHeardOfAnotherBucket: the bucket is deleted and recreated after it was asked about,
// and before its watch is made.
func TestNothingIsHeardOfAnotherBucket(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		asking, watching := natstest.Connect(t, s, link.Options()...), natstest.Connect(t, s)
		bucket, err := natskv.Create(t.Context(), asking, natskv.Config{Bucket: "roles"})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		t.Cleanup(wg.Wait)
		w := newWatcher(t.Context(), &wg, watching, bucket, clock.System(), []string{record.AllFilter})
		once := func() (heard int, err error) {
			ended := make(chan error, 1)
			go func() { ended <- w.once(watchTimeout) }()
			for {
				select {
				case <-w.out:
					if heard++; heard == 1 {
						w.rebuild() // the next one ends this
					}
				case err := <-ended:
					return heard, err
				}
			}
		}
		if heard, err := once(); heard == 0 || err != nil {
			t.Fatalf("of the bucket that is there: %d, %v", heard, err)
		}
		link.DelayDir(natsrun.ToClient, 2*time.Second) // what is known of the bucket is old when its watch is made
		time.AfterFunc(time.Second, func() {
			js, err := jetstream.New(watching)
			if err == nil {
				err = js.DeleteKeyValue(t.Context(), "roles")
			}
			if err == nil {
				_, err = natskv.Create(t.Context(), watching, natskv.Config{Bucket: "roles"})
			}
			if err != nil {
				t.Error(err)
			}
		})
		if heard, err := once(); heard > 0 || !errors.Is(err, natskv.ErrOtherBucket) {
			t.Errorf("of another bucket: %d heard, %v", heard, err)
		}
		link.Hold(natsrun.Both)
		ctx, cancel := context.WithTimeout(t.Context(), watchTimeout)
		defer cancel()
		w = newWatcher(t.Context(), &wg, asking, bucket, clock.System(), []string{record.AllFilter})
		if err := w.identify(ctx); err == nil || errors.Is(err, natskv.ErrOtherBucket) || natskv.Permanent(err) {
			t.Errorf("of one that is not known: %v", err)
		}
		link.Release()
	})
}

// TestADenialToAskWhichBucketIsSaid: a grant that is taken away while the session runs. No other
// watch fixes it.
func TestADenialToAskWhichBucketIsSaid(t *testing.T) {
	var options *server.Options
	s := natstest.Server(t, natstest.Listen, func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) {
			so.Users, options = []*server.User{{Username: "owner", Password: "x"}, {Username: "a", Password: "x"}}, so
		}
	})
	asking := natstest.Connect(t, s, nats.UserInfo("a", "x"))
	bucket, err := natskv.Create(t.Context(), asking, natskv.Config{Bucket: "roles"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	w := newWatcher(t.Context(), &wg, asking, bucket, clock.System(), []string{record.AllFilter})
	less := options.Clone()
	less.Users = []*server.User{
		{Username: "owner", Password: "x"},
		{Username: "a", Password: "x", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.INFO.KV_roles"}},
		}},
	}
	if err := s.Running().ReloadOptions(less); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the denial, which no other watch mends", time.Minute, func() (bool, string) {
		err := w.identify(t.Context()) // the server may put out first whom it concerns
		said := errors.Is(err, nats.ErrPermissionViolation) && natskv.Permanent(err) &&
			strings.Contains(err.Error(), "STREAM.INFO.KV_roles")
		return said, fmt.Sprint(err)
	})
}
