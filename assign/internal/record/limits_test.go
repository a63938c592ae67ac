package record

// withinLimits reports whether a policy is within what the rules count on.
func withinLimits(record *Policy) bool {
	p, times := record.Shared(), record.Times()
	return p.Kind != "" && p.MaxAttempts >= 1 && p.Backoff > 0 && p.MaxBackoff >= p.Backoff &&
		p.Retention >= MinRetention &&
		p.Timeout >= 0 && times.Deadline >= 0 && times.Delay >= 0 && p.Weight >= 1 && p.KeyLimit >= 1 && p.Concurrency >= 0 &&
		p.Rate >= 0
}
