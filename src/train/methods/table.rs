//! The macro that makes [`MethodName`](super::MethodName) of the table of methods.

/// One row a method: its name in code, on the command line and in files, and for people; a function of the
/// [`Variant`](super::Variant) that returns its published optimiser at the published learning rate, `None` where
/// nothing is trained; a function of the [`MethodOptions`](super::MethodOptions) and the device that returns it
/// untrained.
macro_rules! methods {
    ($($name:ident $slug:literal $title:literal, $optimizer:expr, $untrained:expr;)+) => {
        /// A method by name.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, clap::ValueEnum,
        )]
        pub enum MethodName {
            $(
                #[doc = concat!("`", $title, "`")]
                #[serde(rename = $slug)]
                #[value(name = $slug, help = $title)]
                $name,
            )+
        }

        impl MethodName {
            /// All of them, in the order of the tables.
            pub const ALL: [Self; [$($slug),+].len()] = [$(Self::$name),+];

            /// The name on the command line and in files.
            #[must_use]
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)+
                }
            }

            /// The name for people.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                }
            }

            /// The published optimiser, at the published learning rate; `None` where nothing is trained.
            #[must_use]
            pub fn optimizer(self, variant: Variant) -> Option<Optimizer> {
                let optimizer: fn(Variant) -> Option<Optimizer> = match self {
                    $(Self::$name => $optimizer,)+
                };
                optimizer(variant)
            }

            /// Makes the method, untrained, and calls `visitor` with it.
            pub fn visit<V: MethodVisitor>(
                self,
                options: &MethodOptions,
                device: &Device,
                visitor: V,
            ) -> V::Output {
                match self {
                    $(Self::$name => {
                        let untrained: fn(&MethodOptions, &Device) -> _ = $untrained;
                        visitor.visit(untrained(options, device))
                    })+
                }
            }
        }
    };
}

pub(super) use methods;
