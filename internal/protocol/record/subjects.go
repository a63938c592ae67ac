package record

// Subjects of messages between the processes of a bucket. Such messages cross leaf nodes, where
// another bucket may have the same name. So the subjects carry the random id of the bucket.

// ControlSubject is where an instance takes the requests of operators.
func ControlSubject(bucket, id, instance string) string {
	return said(bucket, id) + "ctl." + instance
}

// ReadySubject is where a leader asks an instance whether it is ready to lead. It is not the
// control subject, so that candidates can be allowed to ask and nothing more.
func ReadySubject(bucket, id, instance string) string {
	return said(bucket, id) + "ready." + instance
}

func said(bucket, id string) string { return "$ROLES." + bucket + "." + id + "." }
