package natskv

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestRepairersAgreeOnTheID: a bucket from before has no id. However many repair it at once, they
// give it one and the same, since a process that opened it under another one would be told that it
// is not the bucket that it was.
func TestRepairersAgreeOnTheID(t *testing.T) {
	s := natstest.Server(t)
	for i := range 10 {
		bucket := fmt.Sprintf("b%d", i) // the server may still be removing the directory of a deleted stream
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		cfg := streamConfig(Config{Bucket: bucket, Replicas: 1, MaxTTL: DefaultMaxTTL}, time.Now())
		delete(cfg.Metadata, metaID)
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		var repairing sync.WaitGroup
		ids := make([]string, 4)
		for i := range ids {
			repairing.Go(func() {
				nc := natstest.Connect(t, s)
				if _, err := Repair(t.Context(), nc, bucket); err != nil {
					t.Error(err)
					return
				}
				b, err := Open(t.Context(), nc, bucket)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = b.Identity().ID
			})
		}
		repairing.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Errorf("they have the ids %q", ids)
			}
		}
	}
}

// TestFaultsNameTheReach: the command that repairs a bucket reaches the one that is unfit.
func TestFaultsNameTheReach(t *testing.T) {
	hub, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	unfit := jetstream.StreamInfo{Config: jetstream.StreamConfig{
		Name: "KV_b", Metadata: map[string]string{metaFormat: strconv.Itoa(formatVersion)},
	}}
	found := strings.Join(faults(bucketPlace("b", hub), &unfit, ""), "\n")
	for _, command := range []string{`"rolectl bucket check b --js-domain hub --fix"`, `"rolectl bucket create b --js-domain hub"`} {
		if !strings.Contains(found, command) {
			t.Errorf("no fault names %s:\n%s", command, found)
		}
	}
}

// TestADomainThatCameLater: the same bucket in a domain that was given later is not another one,
// and one that answers from another domain is.
func TestADomainThatCameLater(t *testing.T) {
	before := Identity{ID: "x", Created: time.Unix(1, 0)}
	given := before
	given.Domain = "hub"
	if !before.Same(given) {
		t.Error("a bucket is another one since its JetStream was given a domain")
	}
	renamed := given
	renamed.Domain = "site"
	err := &OtherBucketError{Bucket: "b", Opened: given, Found: renamed}
	if want := `bucket "b" answers from JetStream domain "site", and was in "hub"`; given.Same(renamed) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	renamed.ID = "y"
	if err := (&OtherBucketError{Bucket: "b", Opened: before, Found: renamed}); !strings.Contains(err.Error(), "id y") {
		t.Errorf("%v", err)
	}
}

// TestCommandNamesTheBound: the command creates the bucket that the configuration asks for.
func TestCommandNamesTheBound(t *testing.T) {
	const want = "rolectl bucket create b --max-bytes 67108864"
	if got := Command(Config{Bucket: "b", MaxBytes: 64 << 20}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
