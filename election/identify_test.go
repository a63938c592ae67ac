package election

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// TestNothingIsHeardOfAnotherBucket: the bucket is deleted and made again after it was asked about, and before its watch is made.
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
		w := newWatcher(t.Context(), &wg, watching, bucket, clock.System(), []string{protocol.AllFilter})
		once := func() (heard int, err error) {
			ended := make(chan error, 1)
			go func() { ended <- w.once() }()
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
		if heard, err := once(); heard > 0 || !errors.Is(err, ErrBucketRecreated) {
			t.Errorf("of another bucket: %d heard, %v", heard, err)
		}
		link.Hold(natsrun.Both)
		if heard, err := once(); heard > 0 || err == nil || errors.Is(err, ErrBucketRecreated) || natskv.Permanent(err) {
			t.Errorf("of one that is not known: %d heard, %v", heard, err)
		}
		link.Release()
	})
}
