package assignotel

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Operations, as the first word of a span's name. The second is the kind, which is the destination
// in the words of OpenTelemetry.
const (
	opSubmit  = "submit"
	opQueue   = "queue"
	opProcess = "process"
	opOutcome = "outcome"
)

// messaging are the attributes that OpenTelemetry's conventions have for messages.
func messaging(operation, kind, id string) []attribute.KeyValue {
	all := []attribute.KeyValue{
		semconv.MessagingSystemKey.String("rolemanager"), semconv.MessagingOperationName(operation),
		semconv.MessagingDestinationName(kind), semconv.MessagingMessageID(id),
		AttributeTask.String(id), AttributeKind.String(kind),
	}
	switch operation {
	case opSubmit:
		all = append(all, semconv.MessagingOperationTypeSend)
	case opProcess:
		all = append(all, semconv.MessagingOperationTypeProcess)
	case opOutcome:
		all = append(all, semconv.MessagingOperationTypeSettle)
	}
	return all
}
