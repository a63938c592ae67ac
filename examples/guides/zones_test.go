package guides

import (
	"context"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// TestTwoLevels: in each of two sites one process leads "local", and one of the two leads "global".
func TestTwoLevels(t *testing.T) {
	nc := connection(t)
	ctx, stop := context.WithCancel(t.Context())
	locals, globals, ended := make(chan string, 4), make(chan string, 4), make(chan error, 2)
	leads := func(to chan<- string) work {
		return func(ctx context.Context, term *election.Term) error {
			to <- term.Token().Holder
			<-ctx.Done()
			return nil
		}
	}
	for _, site := range []string{"dc1", "dc2"} {
		cfg := func(bucket string) roles.Config {
			return roles.Config{Conn: nc, Bucket: bucket, BucketAutoCreate: true, InstanceID: site, TTL: time.Second}
		}
		go func() { ended <- twoLevels(ctx, cfg("roles-"+site), cfg("roles"), leads(locals), leads(globals)) }()
	}
	if a, b := <-locals, <-locals; a == b {
		t.Errorf("local is led twice by %s", a)
	}
	<-globals
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if n := len(globals); n > 1 {
		t.Errorf("global was led %d times more", n)
	}
}
