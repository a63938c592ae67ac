package gather

// MostBytes is how many bytes of values one batch may hold.
const MostBytes = 4 << 20

// smooth is how many of the last writes count, more or less, in their mean size.
const smooth = 16

// sizes is how large the last writes were on average.
type sizes struct{ mean int }

func (s *sizes) add(bytes int) { s.mean += (bytes - s.mean) / smooth }

// fit is how many of n such writes one batch holds.
func (s *sizes) fit(n int) int { return min(n, MostBytes/max(s.mean, 1), Most) }
