package roles

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/wording"
)

func describeSession(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.SessionOpened:
		l := at(slog.LevelInfo, "session opened", slog.Duration("ttl", e.TTL))
		l.relief = true
		return l, true
	case event.SessionLost:
		return at(slog.LevelWarn, "session lost", slog.String("reason", e.Reason), failure(e.Cause)), true
	case event.SessionClosed:
		return at(worse(len(e.Undrained) > 0, slog.LevelInfo), "session closed", slog.Any("undrained", e.Undrained)), true
	case event.Heartbeat:
		return at(slog.LevelDebug, "heartbeat", slog.String("outcome", e.Outcome), slog.Duration("took", e.Duration),
			slog.Uint64("revision", e.Revision), slog.Bool("idle", e.Idle)), true
	case event.ConnectionChanged:
		return connection(e), true
	case event.MemberJoined:
		return at(slog.LevelDebug, "member joined", slog.String("member", e.Member),
			slog.Uint64("member_session", e.MemberSession)), true
	case event.MemberLeft:
		return at(slog.LevelDebug, "member left", slog.String("member", e.Member), slog.String("reason", e.Reason)), true
	case event.SessionKilled:
		return at(slog.LevelWarn, "ended the session of a member that was not heard", slog.String("victim", e.Victim),
			slog.Uint64("victim_session", e.VictimSession)), true
	case event.Fault:
		return fault(e), true
	case event.Lagged:
		return at(slog.LevelWarn, "events were left out", slog.Uint64("n", e.N)), true
	}
	return line{}, false
}

func describeFence(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.ClaimAttempted:
		return at(slog.LevelDebug, "claim", slog.String("role", e.Role), slog.String("outcome", e.Outcome),
			slog.Duration("took", e.Duration)), true
	case event.FenceRejected:
		return at(slog.LevelWarn, "refused by fencing", term(e.Role, e.Epoch, slog.String("reason", e.Reason))...), true
	case event.TokenValidated:
		return at(worse(!e.OK, slog.LevelDebug), "leadership validated", term(e.Role, e.Epoch, slog.Bool("ok", e.OK),
			failure(e.Err))...), true
	case event.RecordIgnored:
		return at(slog.LevelWarn, "record not understood", slog.String("key", e.Key), slog.String("reason", e.Reason)), true
	}
	return line{}, false
}

func connection(e event.ConnectionChanged) line {
	if e.Connected {
		l := at(slog.LevelInfo, "connected to NATS")
		l.relief = true
		return l
	}
	return at(slog.LevelWarn, "connection to NATS lost, connecting again", slog.String("status", e.Status))
}

// fault describes a fault. The message itself says that no server answers, because a newcomer meets
// that fault first.
func fault(e event.Fault) line {
	l := at(slog.LevelWarn, e.Doing+" failed")
	if away := (*election.NotConnectedError)(nil); errors.As(e.Err, &away) {
		l.message = wording.Plain(away) + "; trying again"
		l.repeats = l.message // one fault, whichever operations and roles it affects
	} else if wait := (*election.WaitError)(nil); errors.As(e.Err, &wait) {
		l.message = "waits " + wait.For
		l.fields = append(l.fields, slog.Duration("left", wait.Left))
	} else {
		l.repeats = fmt.Sprint(l.message, e.Role, e.Err)
		if e.Err != nil {
			l.fields = append(l.fields, slog.String("error", strings.TrimPrefix(wording.Plain(e.Err), e.Doing+": ")))
		}
	}
	l.fields = append(l.fields, slog.Int("attempts", e.Attempts), slog.String("doing", e.Doing))
	if e.Role != "" {
		l.fields = append(l.fields, slog.String("role", e.Role))
	}
	if e.Slow {
		l.fields = append(l.fields, slog.Bool("slow", true))
	}
	return l
}
