package natskv

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestTheKeeperIsAskedAgain: the one that was asked has just closed its session, and another one
// uses the bucket.
func TestTheKeeperIsAskedAgain(t *testing.T) {
	t.Parallel() // it waits most of the time
	_, nc, b := newBucket(t)
	asked := 0
	_, err := nc.Subscribe(KeeperSubject("elsewhere"), func(m *nats.Msg) {
		if asked++; asked == 2 {
			_ = m.Respond(b.identity.answer())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	err = Config{Bucket: "elsewhere"}.MayCreate(t.Context(), nc)
	if namesake := (*NamesakeError)(nil); !errors.As(err, &namesake) || namesake.Found.ID != b.identity.ID {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if err := (Config{Bucket: "unheard"}).MayCreate(t.Context(), nc); err != nil {
		t.Error(err)
	}
}
