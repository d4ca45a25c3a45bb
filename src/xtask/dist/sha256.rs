//! SHA-256 and Base64, as the attribute `integrity` and content policies write them.

use sha2::{Digest as _, Sha256};

/// SHA-256 of these bytes.
pub(in crate::xtask) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Base64 of RFC 4648, with padding.
pub(in crate::xtask) fn base64(bytes: &[u8]) -> String {
    base64::encode(bytes)
}

/// The first 16 digits of a hash in hexadecimal: enough to tell contents apart in a name.
pub(in crate::xtask) fn short_hex(digest: &[u8]) -> String {
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages and their hashes by Python's `hashlib`, around the lengths at which another block begins.
    #[test]
    fn hashes_are_those_of_another_program() {
        for (n_bytes, expected) in [
            (0, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            (1, "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="),
            (55, "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg="),
            (56, "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o="),
            (63, "fT50oF19sVvOStnsBljqmOPwbu7PFrTG//LaRX3cLzQ="),
            (64, "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs="),
            (65, "Y1NhxIu56rFBmOduqKt/GkFoXWrWKqkUbTAdTxfrCuA="),
            (1000, "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM="),
        ] {
            let hash = base64(&sha256(&vec![b'a'; n_bytes]));
            assert_eq!(hash, expected, "of {n_bytes} bytes");
        }
    }
}
