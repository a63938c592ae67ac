package adoption_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/adoption"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

const stream = "KV_" + bucket

// TestBucketRestore: a bucket is restored from a backup while processes take part in it. Terms have
// begun since the backup, and one process leads. It stays connected throughout, or is cut off from
// a step on. Others are started again as a supervisor starts them. The bucket is there, or it was
// removed, or somebody has made another one since; and the operator's program is interrupted before
// each step. No two terms are valid at once, epochs rise all the time, and somebody leads again.
func TestBucketRestore(t *testing.T) {
	steps := []adoption.Step{
		adoption.Remake, adoption.Mark, adoption.Revoke, adoption.Wait, adoption.Purge, adoption.Identify,
	}
	for i, found := range []string{"kept", "removed", "made since"} {
		for _, cut := range append([]adoption.Step{-1}, steps...) {
			for _, crash := range append([]adoption.Step{-1}, steps...) {
				if crash >= 0 && (int(cut)+int(crash)+len(found))%6 != 0 {
					continue // a sixth of the pairs, with each cut and each crash
				}
				if turn := max(crash, cut, 0); !thorough.Larger() && int(turn)%3 != i {
					continue // a third of these
				}
				t.Run(fmt.Sprint(found, " cut ", int(cut), " crash ", int(crash)), func(t *testing.T) {
					natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) { restored(t, s, found, cut, crash) })
				})
			}
		}
	}
}

func restored(t *testing.T, s *natsrun.Server, found string, cut, crash adoption.Step) {
	f, operator := newFleet(t, s), natstest.Connect(t, s)
	first := f.start("first")
	early := f.led("somebody leads", 0)
	b := backUp(t, operator)
	first()
	link := s.Link()
	again := append(link.Options(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.PingInterval(time.Second), nats.ReconnectBufSize(-1))
	last := f.start("last", again...)
	late := f.led("somebody leads after the backup", early.Epoch()+1)
	if found == "made since" {
		last() // a bucket that is removed and made by hand has two leaders if one is not stopped
	}
	if found != "kept" {
		js, err := jetstream.New(operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := js.DeleteStream(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
	}
	if found == "made since" {
		time.Sleep(time.Second) // the first revision is the time
		cfg := natskv.Config{Bucket: bucket, MaxTTL: most - time.Second}
		if _, err := natskv.Create(t.Context(), operator, cfg); err != nil {
			t.Fatal(err)
		}
		f.start("last", again...)
		late = f.led("somebody leads in the bucket that was made since", late.Epoch()+1)
	}
	f.start("second")
	run := func(crash adoption.Step) (adoption.Result, error) {
		return adoption.Run(t.Context(), adoption.Config{
			Conn: operator, Bucket: bucket, Backup: b,
			Before: func(step adoption.Step) error {
				if step == cut {
					link.Cut()
				}
				if step == crash {
					return errCrash
				}
				return nil
			},
		})
	}
	remade := false
	if crash >= 0 {
		if _, err := run(crash); !errors.Is(err, errCrash) {
			t.Fatalf("the first attempt ends with %v", err)
		}
		remade = crash > adoption.Remake
		f.start("fresh")
		time.Sleep(ttl / 2)
	}
	result, err := run(-1)
	if err != nil {
		t.Fatal(err)
	}
	if want := found == "removed" && !remade; result.Remade != want {
		t.Errorf("created: %t, want %t", result.Remade, want)
	}
	if result.Floor <= late.Epoch() || result.Waited != most {
		t.Errorf("floor %d after epoch %d, which is not in the backup; waited %v", result.Floor, late.Epoch(), result.Waited)
	}
	f.start("next")
	f.led("somebody leads the restored bucket", result.Floor)
	link.Heal()
	time.Sleep(3 * ttl)
	f.check()
	if now, err := natskv.Open(t.Context(), operator, bucket); err != nil || found == "removed" && now.MaxTTL() != most {
		t.Errorf("the bucket: %v", err)
	}
}

// backUp asks for a backup of the bucket. It returns what "nats stream backup" writes into
// backup.json: the server's answer.
func backUp(t *testing.T, nc *nats.Conn) *natskv.Backup {
	t.Helper()
	m, err := nc.Request("$JS.API.STREAM.SNAPSHOT."+stream, []byte(`{"deliver_subject":"nowhere"}`), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b, err := natskv.ReadBackup(bucket, m.Data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
