package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// roundTrip compares the round trip, to the server and to the leader of the bucket, with the
// shortest heartbeat interval of a member, as seen or as its TTL suggests.
func (x *examination) roundTrip() {
	worst := time.Duration(0)
	for range 5 {
		rtt, err := x.a.Conn.RTT()
		if err != nil {
			x.Add(findings.Unknown, "round trip", "try again", "no answer to a ping: %s", wording.Plain(err))
			return
		}
		worst = max(worst, rtt)
	}
	beat, member := time.Duration(0), ""
	for _, m := range x.s.Members() {
		if m.Idle {
			continue
		}
		if every := x.seen.beatOf(m); beat == 0 || every < beat {
			beat, member = every, m.Instance
		}
	}
	fix := "raise the TTL of " + member + ", or move it nearer to the servers"
	what := fmt.Sprintf("%s at worst from here", wording.Age(worst))
	if x.toLeader > worst {
		worst = x.toLeader
		what += fmt.Sprintf(", and %s to the leader of the bucket", wording.Age(worst))
	}
	switch {
	case beat == 0:
		x.OK("round trip", "%s", what)
	case worst > beat/2:
		x.Add(findings.Critical, "round trip", fix,
			"%s, and %s sends a heartbeat every %s, which by default times out after half of that", what,
			member, wording.Age(beat))
	case worst > beat/8:
		x.Add(findings.Warning, "round trip",
			fix, "%s, and %s sends a heartbeat every %s: little time is left for a lost packet",
			what, member, wording.Age(beat))
	default:
		x.OK("round trip", "%s; the most frequent heartbeat, of %s, comes every %s", what, member, wording.Age(beat))
	}
	if others := x.otherClusters(); len(others) > 0 {
		x.OK("round trip", "not measured from other clusters: run doctor there too, in %s", wording.FirstFew(others))
	}
}

// otherClusters are those to which this connection does not lead.
func (x *examination) otherClusters() (names []string) {
	for _, s := range x.servers {
		if s.JetStream && s.Cluster != x.a.Conn.ConnectedClusterName() && !slices.Contains(names, s.Cluster) {
			names = append(names, s.Cluster)
		}
	}
	slices.Sort(names)
	return names
}

// stepped is the smallest jump of a clock that is reported: the network adds less than that.
const stepped = 250 * time.Millisecond

// drift is how far the server's clock was ahead of the local clock while it was watched.
type drift struct {
	low, high time.Duration
	samples   int
}

// clock compares the server's clock with the local clock for a while, to find jumps. A constant
// difference does no harm.
func (x *examination) clock(ctx context.Context, watchFor time.Duration) {
	stream := "KV_" + x.a.Bucket
	var d drift
	for end := time.Now().Add(watchFor); ; {
		once, cancel := context.WithTimeout(ctx, inventory.AskWithin)
		ahead, took, err := inventory.ClockAhead(once, x.a.Conn, x.a.Reach(), stream)
		cancel()
		if err == nil {
			if d.samples == 0 {
				d.low, d.high, x.toLeader = ahead, ahead, took
			}
			x.toLeader = min(x.toLeader, took) // the rest is not the way's
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

// judgeClock reports whether a clock has jumped, by the comparison and by the times of stored
// records.
func (x *examination) judgeClock(d drift, worst inventory.ClockStep, watchFor time.Duration) {
	const fix = "slew the clocks of the servers, do not step them (chrony or ntpd): the server expires records by " +
		"its wall clock"
	switch {
	case d.samples == 0:
		x.Add(findings.Unknown, "clock", "try again", "the server did not report its time")
	case worst.Back > time.Second:
		x.Add(findings.Warning, "clock", fix, "the clock of the stream's leader went back by %s before it stored %s",
			wording.Age(worst.Back), worst.Key)
	case d.high-d.low > stepped:
		x.Add(findings.Warning, "clock",
			fix, "the server's clock and the local clock moved by %s against each other within %s",
			wording.Age(d.high-d.low), watchFor)
	default:
		x.OK("clock", "no step within %s; the server's clock is %s %s the local clock, which does no harm", watchFor,
			wording.Age(d.low.Abs()), aheadOrBehind(d.low))
	}
}

func aheadOrBehind(d time.Duration) string {
	if d < 0 {
		return "behind"
	}
	return "ahead of"
}

// permissions reports whether this user may steer. The checks before have shown that it may read.
func (x *examination) permissions(ctx context.Context) {
	subject := record.ControlSubject(x.a.Bucket, x.id, "rolectl-doctor") // no instance has this name
	switch _, denied, err := inventory.AskServer(ctx, x.a.Conn, subject, nil); {
	case denied:
		x.OK("permissions", "this user may read, and may not steer")
	case err == nil, errors.Is(err, nats.ErrNoResponders): // the request was let through
		x.OK("permissions", "this user may read and steer")
	default:
		x.Add(findings.Unknown, "permissions", "try again, or check this user's permissions for "+subject,
			"this user may read; whether it may steer is unknown: %s", wording.Plain(err))
	}
}
