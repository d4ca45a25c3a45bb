//! Calibration and evaluation pairs of the sets of pictures that a caption could mean.

use anyhow::Result;

use super::measures::with_vaguer;
use super::{SeedTraining, TrainedModel};
use crate::protocol::PictureSets;
use crate::train::pairs::captions::RetrievalCaptions;
use crate::train::pairs::picture_sets::picture_sets;

impl SeedTraining<'_> {
    /// Thresholds chosen on the development pictures with captions of all levels, and measured on the test pictures and
    /// on those of `HierarCaps`.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn picture_sets(&self, model: &TrainedModel) -> Result<PictureSets> {
        let dev = &self.data.dev;
        let all: Vec<usize> = (0..dev.captions.len()).collect();
        let (list, rows) = with_vaguer(dev, &all, [&self.dev.captions, &self.dev_vaguer]);
        let calibration = self.pairs(model, &self.dev.images, list, rows)?;
        let (list, rows) = self.all_levels();
        let test = self.pairs(model, &self.test.images, list, rows)?;
        let mut others = vec![("Flickr8k's test pictures", test)];
        if let (Some(listing), Some([images, captions])) = (&self.data.hierarcaps, &self.hierarcaps)
        {
            let pairs = self.pairs(
                model,
                images,
                RetrievalCaptions::of(listing),
                captions.clone(),
            )?;
            others.push(("HierarCaps' pictures (of COCO)", pairs));
        }
        let others: Vec<_> = others.iter().map(|(on, pairs)| (*on, pairs)).collect();
        Ok(picture_sets(&calibration, &others))
    }
}
