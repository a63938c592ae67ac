package electionotel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/rolemanager/rolemanager/event"
)

// Attributes of the spans.
const (
	// AttributeBucket is the bucket of the session.
	AttributeBucket = attribute.Key("rolemanager.bucket")
	// AttributeInstance is the process that writes the span.
	AttributeInstance = attribute.Key("rolemanager.instance")
	// AttributeSession is the number of its session.
	AttributeSession = attribute.Key("rolemanager.session")
	// AttributeRole is the role.
	AttributeRole = attribute.Key("rolemanager.role")
	// AttributeEpoch is the epoch of the term that has ended.
	AttributeEpoch = attribute.Key("rolemanager.handover.epoch")
	// AttributeReason is why that term has ended, as event.RoleDemoted and event.RoleVacant say. It
	// is missing where nobody knows.
	AttributeReason = attribute.Key("rolemanager.handover.reason")
	// AttributeFrom is the instance that led.
	AttributeFrom = attribute.Key("rolemanager.handover.from")
	// AttributeTo is the instance that leads next.
	AttributeTo = attribute.Key("rolemanager.handover.to")
	// AttributeNextEpoch is the epoch of its term.
	AttributeNextEpoch = attribute.Key("rolemanager.handover.next_epoch")
)

// origin says who writes a span.
func origin(m event.Meta) []attribute.KeyValue {
	return []attribute.KeyValue{
		AttributeBucket.String(m.Bucket), AttributeInstance.String(m.Instance), AttributeSession.Int64(int64(m.Session)),
	}
}

// about says what a span of a hand-over is about.
func about(m event.Meta, role string, epoch uint64) []attribute.KeyValue {
	return append(origin(m), AttributeRole.String(role), AttributeEpoch.Int64(int64(epoch)))
}

// text is an attribute that is left out when nobody knows its value.
func text(all []attribute.KeyValue, key attribute.Key, value string) []attribute.KeyValue {
	if value == "" {
		return all
	}
	return append(all, key.String(value))
}
