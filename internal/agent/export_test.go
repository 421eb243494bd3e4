package agent

// What tests ask directly.
var (
	OfferedName    = offeredName
	WhetherTooLong = whetherTooLong
)
