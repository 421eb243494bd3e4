package redact

// surprise is how many bits the characters of a text would cost a reader who expects words: of prose, and of identifiers in any of the usual
// spellings. A letter costs what it does after the one before it; a digit among letters, or a sign, costs more. Random characters cost five
// to seven bits each, words three to four, whatever the words are: nothing is looked up in a list.
//
// It is linear in the length.
func surprise[T text](t T) (bits float64) {
	const (
		perDigit = 3.3 // one of ten
		perSwap  = 2.5 // from letters to digits, or back
		perSign  = 4.0
		perHump  = 1.0 // a capital where a word may begin
		perShout = 2.5 // a change of case where none does
		repeated = 0.5 // the same character again
	)
	before, capitals := byte(0), 0
	for i := range len(t) {
		c := t[i]
		if i > 0 && c == before {
			bits += repeated
			continue
		}
		swapped := i > 0 && isDigit(c) != isDigit(before) && isAlnum(c) && isAlnum(before)
		switch {
		case swapped && isDigit(c):
			bits += perSwap + perDigit
		case isDigit(c):
			bits += perDigit
		case !isAlnum(c):
			bits += perSign
		case swapped:
			bits += perSwap + letterBits(0, c)
		case isUpper(c) && isLower(before):
			bits += perHump + letterBits(0, c)
		case isLower(c) && isUpper(before) && capitals > 1: // HTTPServer
			bits += perShout + letterBits(before, c)
		default:
			bits += letterBits(before, c)
		}
		if isUpper(c) {
			capitals++
		} else {
			capitals = 0
		}
		before = c
	}
	return bits
}

// letterBits is what a letter costs after another one, or after anything else.
func letterBits(before, c byte) float64 {
	row := 0
	if isUpper(before) || isLower(before) {
		row = int(before|0x20-'a') + 1
	}
	return float64(followers[row*26+int(c|0x20-'a')]-'A') / 2
}

// followers has a row for the beginning of a word and for each letter, and in a row the bits of each letter that follows, twice, from A for 0. It was
// counted over the words of this repository, in three languages, and over the identifiers of Go's own source.
const followers = "" +
	"HJHJJJKLJONJJKKIOIHILKKLOP" + // ^
	"NJIIOMKQKSMGJHSJRHIGLKOMMS" + // a
	"HKJLGKNPHLQGNOIMPIIMHONQKP" + // b
	"GNKMHNMGKUIILOFNQJKHLMQQOT" + // c
	"ILLHELNPGQRKNNIMNJINKMMNMR" + // d
	"JNIHLLLPMTRJKGPLNFGIPLNJPS" + // e
	"HMJKHGNPFSQIKMHLSIJKJQOPNS" + // f
	"INKNEMLJHRQKMIHMRHHKJOOQPQ" + // g
	"FNOLEOPPGRPLLNGORJLIKQORNQ" + // h
	"LMIJJKJSRTQIJEHKSKIHSKSNUL" + // i
	"GLKLGLMMJMLMLLGLNMGMHMMMNN" + // j
	"INLLDMKMGPOKLJKMOMGKLONONP" + // k
	"HNNJFMNOGUOHOOGNRNJJKNOQJR" + // l
	"FKNMFOPQHSPLJOHGROJLJPQPOS" + // m
	"IOIHGLGPJRLMNLINQPHFMMQTOR" + // n
	"MLIJOLMRMSMJIFKJUGJJIJKPSS" + // o
	"GOLLGNNLJUNHMPHJRGIIKPPQOU" + // p
	"KMKJLMMMLONKLNNKKJJMCKMNLM" + // q
	"GOLKEMLQHTMLKKHNRJIIKNOQLS" + // r
	"JOJNFONJHUMLMOJJOMIFIQMQKR" + // s
	"HPLNFMPIFVSLNOILSHIKKQOOKQ" + // t
	"KIKLIKLPJTRHIFNJQHHHRPPNSQ" + // u
	"GMJLEJNNHSRLIMKJNLILMMLNRP" + // v
	"FNLMGMNHGRQMMIHMQHINLONNQP" + // w
	"IJIJHIONJQQMLNLGOLJFNHNKNQ" + // x
	"KMLMJNNOJPOKHHKFPLFHNLNNNM" + // y
	"HMKLDMMLINOLMNJNMMLLJMKKMJ" // z
