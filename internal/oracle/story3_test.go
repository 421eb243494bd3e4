package oracle_test

const lastHint = "[control] This is your last turn. No tool can be called any more."

var spelled = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
	"twelve", "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "sand", "wood", "clay", "iron",
	"salt", "wool", "silk",
	"wine", "corn", "milk"}
