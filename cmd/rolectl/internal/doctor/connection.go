package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
)

// roundTrip compares the way to the server with the heartbeats of the bucket: of each member that beats, how often it does,
// as was seen, or as its TTL has it by default.
func (x *examination) roundTrip() {
	worst := time.Duration(0)
	for range 5 {
		rtt, err := x.a.Conn.RTT()
		if err != nil {
			x.add(unknown, "round trip", "ask again", "no answer to a ping: %v", err)
			return
		}
		worst = max(worst, rtt)
	}
	beat, who := time.Duration(0), ""
	for _, m := range x.s.Members() {
		if m.Idle {
			continue
		}
		if every := x.seen.beatOf(m); beat == 0 || every < beat {
			beat, who = every, m.Instance
		}
	}
	fix := "raise the TTL of " + who + ", or bring it nearer to the servers"
	switch what := fmt.Sprintf("%s at worst from here", show.Age(worst)); {
	case beat == 0:
		x.ok("round trip", "%s", what)
	case worst > beat/2:
		x.add(critical, "round trip", fix, "%s, and %s beats every %s: a heartbeat times out after half of that by default", what, who, show.Age(beat))
	case worst > beat/8:
		x.add(warning, "round trip", fix, "%s, and %s beats every %s: little is left for a lost packet", what, who, show.Age(beat))
	default:
		x.ok("round trip", "%s; the quickest heartbeat, of %s, comes every %s", what, who, show.Age(beat))
	}
}

// stepped is from when on a jump of a clock is worth telling: what the network adds is less.
const stepped = 250 * time.Millisecond

// drift is by how much the server's clock was ahead of ours, at least and at most, while it was watched.
type drift struct {
	low, high time.Duration
	samples   int
}

// clock watches the server's clock against ours, for jumps. That the two differ does no harm: nothing compares them.
func (x *examination) clock(ctx context.Context, watchFor time.Duration) {
	stream := "KV_" + x.a.Bucket
	var d drift
	for end := time.Now().Add(watchFor); ; {
		once, cancel := context.WithTimeout(ctx, inventory.AskWithin)
		ahead, err := inventory.ClockAhead(once, x.a.Conn, stream)
		cancel()
		if err == nil {
			if d.samples == 0 {
				d.low, d.high = ahead, ahead
			}
			d.low, d.high = min(d.low, ahead), max(d.high, ahead)
			d.samples++
		}
		left := time.Until(end)
		if left <= 0 || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(min(left, stepped)):
		case <-ctx.Done():
		}
	}
	x.judgeClock(d, x.s.WorstClockStep(), watchFor)
}

// judgeClock says whether a clock has jumped, by what was seen of it and by the records that it stored.
func (x *examination) judgeClock(d drift, worst inventory.ClockStep, watchFor time.Duration) {
	const fix = "let the servers' clocks be slewed rather than stepped (chrony or ntpd): the server expires records by its wall clock"
	switch {
	case d.samples == 0:
		x.add(unknown, "clock", "ask again", "the server did not tell its time")
	case worst.Back > time.Second:
		x.add(warning, "clock", fix, "the clock of the stream's leader went back by %s before it stored %s", show.Age(worst.Back), worst.Key)
	case d.high-d.low > stepped:
		x.add(warning, "clock", fix, "the server's clock and ours moved by %s against each other within %s", show.Age(d.high-d.low), watchFor)
	default:
		x.ok("clock", "no step within %s; the server's clock is %s %s ours, which does no harm", watchFor, show.Age(d.low.Abs()), aheadOrBehind(d.low))
	}
}

func aheadOrBehind(d time.Duration) string {
	if d < 0 {
		return "behind"
	}
	return "ahead of"
}

// permissions says what this user may do. That it may read has shown already.
func (x *examination) permissions(ctx context.Context) {
	subject := "$ROLES." + x.a.Bucket + ".ctl.rolectl-doctor" // nobody has that name
	switch _, denied, err := inventory.AskServer(ctx, x.a.Conn, subject, nil); {
	case denied:
		x.ok("permissions", "this user may look, and may not steer")
	case err == nil, errors.Is(err, nats.ErrNoResponders): // it has passed
		x.ok("permissions", "this user may look and steer")
	default:
		x.add(unknown, "permissions", "ask again, or see this user's permissions for "+subject, "this user may look; whether it may steer was not to be found out: %v", err)
	}
}
