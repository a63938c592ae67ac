package assign

// ConfigError is one fault of a configuration. All faults of one configuration are joined.
type ConfigError struct {
	Field string
	// Fix says what the value is and what to use instead.
	Fix string
}

func (e *ConfigError) Error() string { return "assign: " + e.Field + ": " + e.Fix }
