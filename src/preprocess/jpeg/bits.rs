//! Entropy-coded bits, and the Huffman codes in them.

/// Codes of up to this many bits are found by one look-up.
const FAST_BITS: u32 = 9;

/// Reads bits up to the next marker; behind it there are only zeros, as in libjpeg.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The next byte to be read; never behind a marker.
    pub(super) at: usize,
    buffer: u64,
    n_buffered: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        let (buffer, n_buffered) = (0, 0);
        Self {
            bytes,
            at,
            buffer,
            n_buffered,
        }
    }

    fn fill(&mut self) {
        while self.n_buffered <= 48 {
            let byte = match self.bytes.get(self.at..) {
                Some([0xFF, 0, ..]) => {
                    self.at += 2;
                    0xFF
                }
                Some([0xFF, ..] | []) | None => 0,
                Some(&[byte, ..]) => {
                    self.at += 1;
                    byte
                }
            };
            self.buffer = self.buffer << 8 | u64::from(byte);
            self.n_buffered += 8;
        }
    }

    /// The next `n` bits, at most 16, without moving; there must be as many in the buffer.
    fn peek(&self, n: u32) -> u32 {
        let mask = (1 << n) - 1;
        u32::try_from(self.buffer >> (self.n_buffered - n) & mask).unwrap_or(0)
    }

    /// The next `n` bits, at most 16.
    pub(super) fn take(&mut self, n: u32) -> i32 {
        self.fill();
        let value = self.peek(n);
        self.n_buffered -= n;
        value.cast_signed()
    }

    /// The next `n` bits as a signed number in JPEG's way: a leading zero means negative.
    pub(super) fn take_signed(&mut self, n: u32) -> i32 {
        if n == 0 {
            return 0;
        }
        let value = self.take(n);
        if value < 1 << (n - 1) {
            value - (1 << n) + 1
        } else {
            value
        }
    }

    /// Moves behind the next marker if that is a restart marker, and before it if not: what lies between is never read,
    /// as in libjpeg, nor searched again at the next restart.
    pub(super) fn restart(&mut self) {
        (self.buffer, self.n_buffered) = (0, 0);
        let mut at = self.at;
        self.at = match next_marker(self.bytes, &mut at) {
            Some(0xD0..=0xD7) => at,
            Some(_) => at - 2,
            None => self.bytes.len(),
        };
    }

    /// The next symbol; a code that is not in the table reads as 0, as in libjpeg.
    pub(super) fn symbol(&mut self, table: &Huffman) -> u8 {
        self.fill();
        let [length, symbol] = table.fast[self.peek(FAST_BITS) as usize];
        if length > 0 {
            self.n_buffered -= u32::from(length);
            return symbol;
        }
        let code = self.peek(16);
        for length in FAST_BITS + 1..=16 {
            let range = &table.long[(length - FAST_BITS - 1) as usize];
            let code = code >> (16 - length);
            if (range.first_code..range.end_code).contains(&code) {
                self.n_buffered -= length;
                return table.values[(range.first_value + code - range.first_code) as usize];
            }
        }
        self.n_buffered -= 16;
        0
    }
}

/// Huffman table: symbols of one byte by their codes of 1 to 16 bits.
#[derive(Debug, Clone)]
pub(super) struct Huffman {
    /// Length and symbol by the next [`FAST_BITS`] bits; length 0 where the code is longer.
    fast: Vec<[u8; 2]>,
    /// The codes of 10 to 16 bits.
    long: Vec<CodeRange>,
    values: Vec<u8>,
}

/// The codes of one length, which are consecutive numbers.
#[derive(Debug, Clone)]
struct CodeRange {
    first_code: u32,
    end_code: u32,
    first_value: u32,
}

impl Huffman {
    /// The table with `counts[i]` codes of `i + 1` bits; none if there are more codes than bits can tell apart.
    pub(super) fn new(counts: &[u8; 16], values: &[u8]) -> Option<Self> {
        let mut fast = vec![[0; 2]; 1 << FAST_BITS];
        let mut long = Vec::new();
        let (mut code, mut first_value) = (0_u32, 0_u32);
        for (length, &count) in (1_u32..).zip(counts) {
            let n_codes = u32::from(count);
            if code + n_codes > 1 << length {
                return None;
            }
            if length <= FAST_BITS {
                let spread = 1 << (FAST_BITS - length);
                for i_code in 0..n_codes {
                    let value = *values.get((first_value + i_code) as usize)?;
                    let entry = [u8::try_from(length).ok()?, value];
                    let first = ((code + i_code) * spread) as usize;
                    fast[first..first + spread as usize].fill(entry);
                }
            } else {
                long.push(CodeRange {
                    first_code: code,
                    end_code: code + n_codes,
                    first_value,
                });
            }
            first_value += n_codes;
            code = (code + n_codes) << 1;
        }
        (values.len() >= first_value as usize).then(|| Self {
            fast,
            long,
            values: values.to_vec(),
        })
    }
}

/// Moves behind the next marker and returns it.
pub(super) fn next_marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    let rest = bytes.get(*at..)?;
    let is_marker = |pair: &[u8]| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xFF);
    let offset = rest.windows(2).position(is_marker)?;
    *at += offset + 2;
    Some(rest[offset + 1])
}
