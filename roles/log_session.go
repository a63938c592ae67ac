package roles

import (
	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/event"
)

func describeSession(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.SessionOpened:
		return at(zap.InfoLevel, "session opened", zap.Duration("ttl", e.TTL)), true
	case event.SessionLost:
		return at(zap.WarnLevel, "session lost", zap.String("reason", e.Reason), zap.Error(e.Cause)), true
	case event.SessionClosed:
		return at(worse(len(e.Undrained) > 0, zap.InfoLevel), "session closed", zap.Strings("undrained", e.Undrained)), true
	case event.Heartbeat:
		return at(zap.DebugLevel, "heartbeat", zap.String("outcome", e.Outcome), zap.Duration("took", e.Duration),
			zap.Uint64("revision", e.Revision), zap.Bool("idle", e.Idle)), true
	case event.ConnectionChanged:
		return at(worse(!e.Connected, zap.InfoLevel), "connection changed", zap.Bool("connected", e.Connected), zap.String("status", e.Status)), true
	case event.MemberJoined:
		return at(zap.DebugLevel, "member joined", zap.String("member", e.Member), zap.Uint64("member_session", e.MemberSession)), true
	case event.MemberLeft:
		return at(zap.DebugLevel, "member left", zap.String("member", e.Member), zap.String("reason", e.Reason)), true
	case event.SessionKilled:
		return at(zap.WarnLevel, "killed the session of a member whose lease has run out", zap.String("victim", e.Victim),
			zap.Uint64("victim_session", e.VictimSession)), true
	case event.Fault:
		return at(zap.WarnLevel, "fault, tried again", zap.String("doing", e.Doing), zap.String("role", e.Role), zap.Error(e.Err),
			zap.Int("attempts", e.Attempts), zap.Bool("slow", e.Slow)), true
	case event.Lagged:
		return at(zap.WarnLevel, "events were left out", zap.Uint64("n", e.N)), true
	}
	return line{}, false
}

func describeFence(e event.Event) (line, bool) {
	switch e := e.(type) {
	case event.ClaimAttempted:
		return at(zap.DebugLevel, "claim", zap.String("role", e.Role), zap.String("outcome", e.Outcome), zap.Duration("took", e.Duration)), true
	case event.FenceRejected:
		return at(zap.WarnLevel, "refused by fencing", term(e.Role, e.Epoch, zap.String("reason", e.Reason))...), true
	case event.TokenValidated:
		return at(worse(!e.OK, zap.DebugLevel), "leadership validated", term(e.Role, e.Epoch, zap.Bool("ok", e.OK), zap.Error(e.Err))...), true
	case event.RecordIgnored:
		return at(zap.WarnLevel, "record not understood", zap.String("key", e.Key), zap.String("reason", e.Reason)), true
	}
	return line{}, false
}
